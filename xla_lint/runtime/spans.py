"""Which lines of a run a finding of the linter is about."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.program.domain.events import LoaderBuilt, Read
from xla_lint.program.syntax.spelling import line_of
from xla_lint.rules.base import Counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xla_lint.rules.base import Finding
    from xla_lint.runtime.graph_stacks import Stack

COMPOUND = (nodes.For, nodes.While, nodes.If, nodes.With, nodes.Try, nodes.FunctionDef, nodes.ClassDef)
UNTIED, SAME_FUNCTION, SAME_LOOP, GOVERNED, SAME_LINE = range(5)
"""How closely a finding belongs to a stack: see `Span.tie`."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some lines of a file, both ends included."""

    file: str
    first: int
    last: int

    def holds(self, file: str, line: int) -> bool:
        """Whether a line is one of them, by whatever name its file goes."""
        return self.first <= line <= self.last and real(self.file) == real(file)

    def on(self, stack: Stack) -> bool:
        """Whether a line of the stack is one of them."""
        return any(self.holds(frame.file, frame.line) for frame in stack)


@dataclass(frozen=True, slots=True)
class Span:
    """A finding of the linter: the lines that its node covers, its rule, and where a run shows what it costs."""

    place: Stretch
    symbol: str
    shown: tuple[Stretch, ...]
    costs: frozenset[Counter] = frozenset()
    """The counters of which a run must move one; empty where no run can show it."""
    governed: tuple[Stretch, ...] = ()
    """The bodies of the statements in whose head the node stands."""
    loops: tuple[Stretch, ...] = ()
    """The loops in which it happens."""
    function: Stretch | None = None
    """The function around it, or the whole file."""
    handed: bool = False
    """True in a function that other code calls again and again, such as a collator: its calls are on no stack."""

    def shows(self, file: str, line: int) -> bool:
        """Whether a line is among those where a run shows the cost."""
        return any(stretch.holds(file, line) for stretch in self.shown)

    def tie(self, stack: Stack) -> int:
        """How closely it belongs to what a stack did.

        It stands on a line of the stack; in the head of a statement whose body is on it; in a loop that is on it; or,
        where no loop is known, in a function that is on it. Otherwise nothing says that it has to do with the stack.
        """
        if self.place.on(stack) or any(stretch.on(stack) for stretch in self.shown):
            return SAME_LINE
        if any(stretch.on(stack) for stretch in self.governed):
            return GOVERNED
        if self.loops and not self.handed:
            return SAME_LOOP if any(stretch.on(stack) for stretch in self.loops) else UNTIED
        if self.handed:
            return SAME_FUNCTION
        return SAME_FUNCTION if self.function is not None and self.function.on(stack) else UNTIED


class Evidence(NamedTuple):
    """What a run knows of a cause: the findings that may explain it."""

    rules: tuple[str, ...]
    stacks: tuple[Stack, ...]
    """What such a finding has to do with."""
    least: int
    """How closely, as in `Span.tie`."""

    def tie(self, span: Span) -> int:
        """How closely a finding belongs to it; `UNTIED` where it explains nothing."""
        if span.symbol not in self.rules:
            return UNTIED
        tie = max(map(span.tie, self.stacks), default=UNTIED)
        return tie if tie >= self.least else UNTIED


def span(finding: Finding) -> Span:
    """Where a finding stands, and where a run shows its cost."""
    place = _stretch(finding.node)
    return Span(
        place,
        finding.rule.symbol,
        tuple(map(_stretch, finding.cost_shows_at)) or (place,),
        _costs(finding),
        tuple(_governed(finding.node)),
        tuple(dict.fromkeys(map(_whole, _loops(finding)))),
        _whole(finding.node.scope() if not isinstance(finding.node, nodes.Module) else finding.node),
        finding.event is not None and finding.event.context.callback,
    )


@functools.lru_cache(maxsize=4096)
def real(file: str) -> str:
    """A file by the one name that it has without symbolic links."""
    return file if file.startswith("<") else os.path.realpath(file)


def _costs(finding: Finding) -> frozenset[Counter]:
    """Those of its rule; of a read what its line itself does, and that is the read alone where the value is there."""
    costs = frozenset(finding.rule.costs)
    if not isinstance(finding.event, Read) or not costs:
        return costs
    return costs - {Counter.COMPILES} if finding.event.pending else frozenset({Counter.READS})


def _loops(finding: Finding) -> Iterator[nodes.NodeNG]:
    event = finding.event
    if event is None:
        return
    loops = event.loader.loops if isinstance(event, LoaderBuilt) else event.context.loops
    step = event.context.step
    yield from (loop.node for loop in loops if step is None or loop is step or isinstance(event, LoaderBuilt))


def _governed(node: nodes.NodeNG) -> Iterable[Stretch]:
    """The bodies of the branches and loops that the node's value decides."""
    child = node
    parent = node.parent
    while parent is not None and not isinstance(parent, (nodes.FunctionDef, nodes.Lambda, nodes.Module)):
        head = (
            child is parent.test
            if isinstance(parent, (nodes.If, nodes.While, nodes.IfExp))
            else isinstance(parent, nodes.For) and child is parent.iter
        )
        if head:
            yield _whole(parent)
        child, parent = parent, parent.parent


def _file(node: nodes.NodeNG) -> str:
    """Of a cell, which lies in no folder, the name alone."""
    file = Path(str(node.root().file))
    return file.name if file.name.startswith("<") else str(file)


def _stretch(node: nodes.NodeNG) -> Stretch:
    """The lines of an expression or a simple statement; of a compound one, those of its head."""
    last = line_of(node) if isinstance(node, COMPOUND) else int(node.end_lineno or line_of(node))
    return Stretch(_file(node), line_of(node), last)


def _whole(node: nodes.NodeNG) -> Stretch:
    last = int(node.end_lineno or node.tolineno or line_of(node))
    return Stretch(_file(node), 1 if isinstance(node, nodes.Module) else line_of(node), last)
