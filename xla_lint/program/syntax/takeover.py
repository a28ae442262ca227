"""Which names a turn of a loop takes over from the turn before: those it may read before it has bound them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.syntax.index import is_local

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.program.syntax.index import Index

Bound = frozenset[str]
LEAVING = (nodes.Return, nodes.Raise, nodes.Break, nodes.Continue)
COMPREHENSIONS = (nodes.ListComp, nodes.SetComp, nodes.DictComp, nodes.GeneratorExp)


def taken_over(loop: nodes.For | nodes.While, index: Index) -> set[str]:
    """The names that a turn may read as the turn before has left them, be it in a function that it calls."""
    known = index.taken_over.get(loop)
    if known is None:
        turn = Turn(loop.scope())
        if isinstance(loop, nodes.For):
            turn.block(loop.body, turn.bind(loop.target, frozenset()))
        else:
            turn.read(loop.test, frozenset())
            turn.block(loop.body, frozenset())
        readers = index.read_from_inside(loop.scope())
        shared = {name for name in turn.bound if not all(map(loop.parent_of, readers.get(name, ())))}
        known = index.taken_over[loop] = turn.taken | shared
    return known


class Turn:
    """One pass over the body of a loop, statement by statement, on all paths."""

    def __init__(self, scope: nodes.NodeNG) -> None:
        self.scope = scope
        self.taken: set[str] = set()
        """The names that may be read before they are bound."""
        self.bound: set[str] = set()
        """The names that are bound on some path."""

    def block(self, body: Iterable[nodes.NodeNG], bound: Bound) -> Bound | None:
        """The names that are surely bound after some statements; None where no path comes to their end."""
        after: Bound | None = bound
        for statement in body:
            if after is None:
                break
            after = self.statement(statement, after)
        return after

    def statement(self, node: nodes.NodeNG, bound: Bound) -> Bound | None:
        """The same for one statement."""
        if isinstance(node, (nodes.If, nodes.For, nodes.While, nodes.Match)):
            return self._branches(node, bound)
        if isinstance(node, nodes.With):
            for manager, target in node.items:
                self.read(manager, bound)
                bound = self.bind(target, bound) if target is not None else bound
            return self.block(node.body, bound)
        if isinstance(node, (nodes.Try, nodes.TryStar)):
            return self._try(node, bound)
        self.read(node, bound)
        if isinstance(node, LEAVING):
            return None
        if isinstance(node, (nodes.FunctionDef, nodes.ClassDef)):
            return bound | {node.name}
        return self.bind(node, bound)

    def _branches(self, node: nodes.If | nodes.For | nodes.While | nodes.Match, bound: Bound) -> Bound | None:
        """One of several blocks is run; the body of a loop inside, and all cases of a match, may be passed by."""
        if isinstance(node, nodes.If):
            self.read(node.test, bound)
            bound = self.bind(node.test, bound)
            return meet(self.block(node.body, bound), self.block(node.orelse, bound))
        if isinstance(node, nodes.Match):
            self.read(node.subject, bound)
            for case in node.cases:
                inside = self.bind(case.pattern, bound)
                if case.guard is not None:
                    self.read(case.guard, inside)
                self.block(case.body, inside)
            return bound
        inside = bound
        if isinstance(node, nodes.For):
            self.read(node.iter, bound)
            inside = self.bind(node.target, bound)
        else:
            self.read(node.test, bound)
        self.block(node.body, inside)
        self.block(node.orelse, bound)
        return bound

    def _try(self, node: nodes.Try | nodes.TryStar, bound: Bound) -> Bound | None:
        after = self.block(node.body, bound)
        after = self.block(node.orelse, after) if after is not None else None
        for handler in node.handlers:
            inside = self.bind(handler.name, bound) if handler.name is not None else bound
            after = meet(after, self.block(handler.body, inside))
        last = self.block(node.finalbody, bound)
        return None if after is None or last is None else after | last

    def bind(self, node: nodes.NodeNG, bound: Bound) -> Bound:
        """The names that are bound once a target, or the targets in an expression or a simple statement, are."""
        names = {item.name for item in outside_scopes(node) if isinstance(item, nodes.AssignName)}
        self.bound |= names
        return bound | names

    def read(self, node: nodes.NodeNG, bound: Bound) -> None:
        """Note the names that are read in a node; a function reads as it is defined, for all that is known."""
        for item in node.nodes_of_class(nodes.Name):
            if item.name not in bound and item.name not in self.taken and not is_local(item, self.scope):
                self.taken.add(item.name)
        if isinstance(node, nodes.AugAssign) and isinstance(node.target, nodes.AssignName):
            self.taken |= {node.target.name} - bound


def meet(first: Bound | None, second: Bound | None) -> Bound | None:
    """What is bound on both of two paths, as far as each comes to its end."""
    if first is None or second is None:
        return second if first is None else first
    return first & second


def outside_scopes(node: nodes.NodeNG) -> Iterable[nodes.NodeNG]:
    """A node and those in it, but for the insides of functions and comprehensions."""
    pending = [node]
    while pending:
        item = pending.pop()
        yield item
        if not isinstance(item, (nodes.Lambda, *COMPREHENSIONS)):
            pending.extend(item.get_children())
