"""Helpers that work on every tensor of a container."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "a batch is moved": """
        import elsewhere
        from accelerate.utils import send_to_device
        from lightning.fabric.utilities import move_data_to_device
        from lightning.pytorch.utilities import move_data_to_device as move
        batch = {"x": h, "rest": (h, 3)}
        probe.value(send_to_device(batch, device))  # is: {x: device tensor of 3, rest: (device tensor of 3, number)}
        probe.value(move_data_to_device(batch, device=device)["x"])  # is: device tensor of 3
        probe.value(move([h], "xla"))  # is: [device tensor of 3]
        probe.value(send_to_device(batch, "cpu")["x"])  # is: host tensor of 3
        probe.value(send_to_device(elsewhere.read(), device))  # is: device output
    """,
    "a function is called on each part": """
        from accelerate.utils import recursively_apply
        from lightning_utilities.core.apply_func import apply_to_collection
        from torch.utils._pytree import tree_map, tree_map_only
        batch = {"x": h, "y": [h]}

        def move(part):
            return part.to(device)

        probe.value(tree_map(move, batch))  # is: {x: device tensor of 3, y: [device tensor of 3]}
        probe.value(tree_map_only(torch.Tensor, lambda part: part.to(device), batch)["x"])  # is: device tensor of 3
        probe.value(recursively_apply(lambda part: part.to(device), batch)["x"])  # is: device tensor of 3
        probe.value(apply_to_collection(batch, torch.Tensor, move)["x"])  # is: device tensor of 3
    """,
    "a step that reads": """
        from accelerate.utils import send_to_device
        for batch in [{"x": torch.ones(2, 4)} for _ in range(9)]:
            batch = send_to_device(batch, device)
            print(model(batch["x"]).sum().item())  # expect: xla-value-read
            torch_xla.sync()
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
