"""What a remembered call is told apart by."""

from __future__ import annotations

import pytest

from xla_lint.program.domain.state import State
from xla_lint.program.domain.values import UNKNOWN, Sequence
from xla_lint.program.machine.memo import fingerprint


@pytest.mark.parametrize("items", [None, [UNKNOWN], [UNKNOWN] * 9])
def test_an_object_stays_alive_as_long_as_a_call_with_it_is_remembered(items: list[object] | None) -> None:
    """An address alone would be given to another object, and the call be taken for one with that."""
    value = Sequence(items, UNKNOWN)
    assert fingerprint(value, State({}, frozenset(), frozenset({1})))[0] is value
