"""What may come round again in a loop's next turn: running totals with their history, and concatenations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.contexts import Context
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Tensor


class Concatenation(NamedTuple):
    """A concatenation with a tensor that may come round again."""

    operands: tuple[Tensor, ...]
    what: str
    """The source of the tensor."""
    context: Context


class Total(NamedTuple):
    """A running total of tensors that carry autograd history."""

    target: nodes.NodeNG
    loops: tuple[Loop, ...]
    """The loops around it."""
    context: Context


@dataclass(slots=True)
class Growth:
    """The totals and concatenations of a run, by the node where they happen."""

    concatenations: dict[nodes.NodeNG, Concatenation] = field(default_factory=dict)
    totals: dict[nodes.NodeNG, Total] = field(default_factory=dict)
    spent: set[nodes.NodeNG] = field(default_factory=set)
    """The totals whose history `backward()` used up."""
    turns: dict[nodes.NodeNG, dict[Loop, int]] = field(default_factory=dict)
    """In which turn of each loop a total was last added to."""
    confirmed: set[tuple[nodes.NodeNG, Loop]] = field(default_factory=set)
    """The totals that came from an earlier turn, with the loop of that turn."""
