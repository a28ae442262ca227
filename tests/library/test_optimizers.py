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
