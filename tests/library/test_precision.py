"""Mixed precision, and gradient scalers."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "autocast for another device": """
        for x in loader:
            with torch.autocast("cuda"):  # expect: xla-foreign-autocast
                update(x)
    """,
    "autocast for this device, or none": """
        for x in loader:
            with torch.autocast("xla"):
                update(x)
        for x in loader:
            with torch.autocast("cuda", enabled=False):
                update(x)
    """,
    "autocast as a decorator": """
        @torch.autocast("cuda")  # expect: xla-foreign-autocast
        def forward(x):
            return update(x)
        for x in loader:
            forward(x)
        probe.value(torch.autocast("xla")(update)(t))  # is: device tensor
        probe.value(torch.autocast("xla").other())  # is: unknown
    """,
    "scalers": """
        from torch_xla.amp import syncfree
        optimizer = syncfree.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("xla")  # expect: xla-foreign-grad-scaler
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).mean()
            scaled = scaler.scale(loss)
            probe.value(scaled)  # is: device tensor
            scaled.backward()
            xm.reduce_gradients(optimizer)
            scaler.step(optimizer)
            probe.value(scaler.update())  # is: None
        probe.value(scaler.scale([t]))  # is: [device tensor of 3]
        probe.value(scaler.scale(probe.other()))  # is: unknown
        probe.value(scaler.get_scale())  # is: number
        probe.value(scaler.state_dict())  # is: {number..}
    """,
    "gradients are unscaled before they are reduced": """
        from torch_xla.amp import syncfree
        optimizer = syncfree.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("xla")  # expect: xla-foreign-grad-scaler
        torch.distributed.init_process_group("xla", init_method="xla://")
        for x in loader:
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            scaler.unscale_(optimizer)  # expect: xla-clip-before-reduce
            xm.reduce_gradients(optimizer)
            scaler.step(optimizer)
            scaler.update()
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
