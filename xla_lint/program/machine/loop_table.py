"""The loops of a run, each known by its place and by how the program came there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_lint.program.domain.contexts import Context
from xla_lint.program.domain.loops import Form, Loop

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from astroid import nodes

    from xla_lint.program.domain.contexts import CallSite
    from xla_lint.program.machine.position import Position


class LoopTable:
    """Every loop that was run."""

    def __init__(self) -> None:
        self._loops: dict[tuple[Any, ...], Loop] = {}
        self.outermost: list[Loop] = []
        """The loops that no other one is around, those that an error ended among them."""
        self._stacks: dict[Loop, tuple[CallSite, ...]] = {}

    def loop(self, node: nodes.NodeNG, function: str, at: Position, form: Form = Form.LOOP) -> Loop:
        """The loop that a node is at a position: the same one each time the way there is the same."""
        parent = at.loops[-1] if at.loops else None
        key = (node, form, parent, at.calls, at.closure)
        loop = self._loops.get(key)
        if loop is None:
            loop = self._loops[key] = Loop(node, form, function, parent)
            self._stacks[loop] = at.calls
            if parent is None:
                self.outermost.append(loop)
        return loop

    def contexts(self) -> Iterator[tuple[Loop, Context]]:
        """Every loop, with the context in which it stands."""
        for loop in self._loops.values():
            around = tuple(reversed(list(loop.around())))
            yield loop, Context(around, frozenset(), self._stacks[loop], False, False)

    def drop(self, loops: Collection[Loop]) -> None:
        """Let loops count as not seen."""
        self._loops = {key: loop for key, loop in self._loops.items() if loop not in loops}
