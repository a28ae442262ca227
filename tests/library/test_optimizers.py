"""Optimizers and schedules."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what an optimizer has": """
        probe.value(optimizer.zero_grad())  # is: None
        probe.value(optimizer.param_groups)  # is: [{params: [device tensor..], unknown..}..]
        probe.value(optimizer.state_dict()["param_groups"])  # is: [{number..}..]
        probe.value(optimizer.add_param_group({"params": []}))  # is: None
        probe.value(optimizer.register_step_post_hook(print))  # is: unknown
    """,
    "a closure gives the loss": """
        def closure():
            optimizer.zero_grad()
            loss = model(t).mean()
            loss.backward()
            return loss
        probe.value(optimizer.step(closure))  # is: device tensor
        probe.value(optimizer.step())  # is: None
    """,
    "hooks of steps": """
        def before(optimizer, args, kwargs):
            print(optimizer.param_groups[0]["params"][0])  # expect: xla-late-read
        def after(optimizer, args, kwargs):
            probe.value(args)  # is: ()
        optimizer.register_step_pre_hook(before)
        optimizer.register_step_post_hook(after)
        for x in loader:
            update(x)
    """,
    "an optimizer that its model has left behind": """
        net = nn.Linear(4, 4)
        first = torch.optim.SGD(net.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        second = torch.optim.SGD([{"params": [p for n, p in net.named_parameters()]}])  # expect: xla-stale-optimizer
        net.to(device)
        for x in loader:
            net(x).mean().backward()
            first.step()
            second.step()
            first.zero_grad()
            second.zero_grad()
    """,
    "an optimizer of the project": """
        class Slow(torch.optim.SGD):
            pass
        slow = Slow(model.parameters(), lr=0.1)
        probe.value(slow.param_groups)  # is: [{params: [device tensor..], unknown..}..]
    """,
    "schedules compute on the host": """
        from torch.optim.lr_scheduler import StepLR
        from torch.optim.swa_utils import SWALR
        schedule = StepLR(optimizer, 1)
        probe.value(schedule.step())  # is: None
        probe.value(schedule.get_last_lr())  # is: [number..]
        probe.value(schedule.state_dict())  # is: {number..}
        probe.value(schedule.other())  # is: unknown
        probe.value(SWALR(optimizer, 0.1).step())  # is: None
        class Mine(StepLR):
            pass
        probe.value(Mine(optimizer, 1).get_last_lr())  # is: [number..]
    """,
    "a schedule that watches a loss": """
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        for x in loader:
            loss = update(x)
            plateau.step(loss)  # expect: xla-hidden-read
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
