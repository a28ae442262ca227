"""Step closures run after the barrier."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what a closure sees": """
        def show(loss):
            print(loss.item())
        def late(loss):
            print((loss * 2).item())
        for x in loader:
            loss = update(x)
            xm.add_step_closure(show, args=(loss,))
            xm.add_step_closure(lambda value: print(value), args=([loss],))
            xm.add_step_closure(show, args=(loss.item(),))  # expect: xla-closure-argument, xla-value-read
            xm.add_step_closure(show, args=loss)  # expect: xla-closure-argument
            xm.add_step_closure(probe.other, args=probe.other())
            xm.add_step_closure(probe.other)
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
