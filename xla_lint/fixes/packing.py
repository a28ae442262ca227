"""Repairs as values that JSON has, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from xla_lint.fixes.changes import Call, Change, Drop, Fix, Give, Name, Repair, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAKERS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "tuple": tuple,
    "frozenset": frozenset,
    **{kind.__name__: kind._make for kind in (Repair, Fix, Span, Name, Give, Drop, Call, *get_args(Change))},
}
"""What makes each kind of value from its parts."""


def packed(value: Any) -> Any:
    """A repair or a part of one: a list that begins with the name of its kind, or a text, a number or nothing."""
    if not isinstance(value, (tuple, frozenset)):
        return value
    parts = sorted(value) if isinstance(value, frozenset) else value
    return [type(value).__name__, *map(packed, parts)]


def unpacked(value: Any) -> Any:
    """What was packed."""
    if not isinstance(value, list):
        return value
    kind, *parts = value
    return MAKERS[kind](map(unpacked, parts))
