"""The code of a module that runs on the target release, with what guards it.

Branches that a test on the release rules out are left out, and so are those of such a test that cannot be decided:
whoever asks knows of the other releases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from astroid import nodes

from xla_lint.program.backend import OWN_PACKAGES, package_of
from xla_lint.program.syntax.imports import dotted_name
from xla_lint.program.syntax.index import index_of, last_name
from xla_lint.program.syntax.version_tests import Answer, VersionTests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.knowledge.releases import Release
    from xla_lint.program.syntax.index import Index

PACKAGES = (*OWN_PACKAGES, "os")
"""What the walk looks for: the backends themselves, and the environment that they read."""
ABSENCES = frozenset({"ImportError", "AttributeError", "TypeError"})
"""What Python raises where a name or an argument is not there."""
BROAD = frozenset({"Exception", "BaseException"})
SUPPRESSORS = frozenset({"contextlib.suppress", "pytest.raises"})
WEIGHING = frozenset({"int", "str", "bool", "len", "max", "min", "print", "range", "list"})
"""What a result is handed to for what it tells."""
LEAVING = (nodes.Return, nodes.Raise, nodes.Continue, nodes.Break)
LISTED = frozenset(
    {nodes.Import, nodes.ImportFrom, nodes.Attribute, nodes.Name, nodes.Call, nodes.Assign, nodes.AugAssign}
)
"""The kinds of nodes that are listed."""


class Guards(NamedTuple):
    """What stands around a piece of code."""

    branches: tuple[tuple[nodes.NodeNG, bool], ...] = ()
    """The undecided tests around it, and which branch of each it is in."""
    caught: frozenset[str] = frozenset()
    """The exceptions of `ABSENCES` that a `try` around it expects."""
    functions: tuple[nodes.NodeNG, ...] = ()
    """The functions around it, outermost first."""


class Spot(NamedTuple):
    """One node that runs, and its guards."""

    node: nodes.NodeNG
    guards: Guards


Following = tuple[list[nodes.NodeNG], Guards]
"""Statements that are still to be walked over, and what stands around them."""


class ReachableCode:
    """A walk over what `speaking` picks of a module.

    `spots` lists the imports, names, attributes, calls and assignments on its way, in source order.
    """

    def __init__(self, module: nodes.Module, target: Release, besides: Iterable[nodes.NodeNG] = ()) -> None:
        """Take a module, and nodes of it that speak of torch_xla although their names do not show it."""
        self.module = module
        self.spots: list[Spot] = []
        self._tests = VersionTests(target)
        self._wanted = speaking(index_of(module), besides)
        self._skipped: set[str] = set()
        self._block(module.body, Guards())
        self._drop_uncalled()

    def _block(self, body: list[nodes.NodeNG], guards: Guards) -> None:
        following: Following | None = (body, guards)
        while following is not None:
            following = self._until_split(*following)

    def _until_split(self, body: list[nodes.NodeNG], guards: Guards) -> Following | None:
        """Walk a block up to a test that divides the rest of it, and that test; give what follows then."""
        last = next((place for place in range(len(body) - 1, -1, -1) if body[place] in self._wanted), -1)
        for position, statement in enumerate(body[: last + 1]):
            if not isinstance(statement, nodes.If):
                self._visit(statement, guards)
                continue
            leaves = ends_early(statement.body), ends_early(statement.orelse)
            if statement not in self._wanted and not any(leaves):
                continue
            self._visit(statement.test, guards)
            answer = Answer.NO if never_holds(statement.test) else self._tests.decide(statement.test)
            if answer is not Answer.UNRELATED or any(leaves):
                return self._split(statement, answer, body[position + 1 : last + 1], guards)
            self._block(statement.body, branch(guards, statement, True))
            self._block(statement.orelse, branch(guards, statement, False))
        return None

    def _split(self, statement: nodes.If, answer: Answer, rest: list[nodes.NodeNG], guards: Guards) -> Following | None:
        """Walk the branches of a test before the rest of a block; give the branch that ends it, and the rest."""
        leaves = ends_early(statement.body), ends_early(statement.orelse)
        after_body, after_else = ([] if leaves[0] else rest), ([] if leaves[1] else rest)
        if answer is Answer.YES:
            self._skip(statement.orelse)
            return [*statement.body, *after_body], guards
        if answer is Answer.NO:
            self._skip(statement.body)
            return [*statement.orelse, *after_else], guards
        if answer is Answer.UNRELATED:
            self._block([*statement.body, *after_body], branch(guards, statement, True))
            return [*statement.orelse, *after_else], branch(guards, statement, False)
        self._skip(statement.body)
        self._skip(statement.orelse)
        if not any(leaves):
            return rest, guards
        self._skip(rest)
        return None

    def _visit(self, node: nodes.NodeNG, guards: Guards) -> None:
        if node not in self._wanted:
            return
        kind = type(node)
        if kind in LISTED:
            self.spots.append(Spot(node, guards))
        visit = VISITS.get(kind)
        if visit is not None:
            visit(self, node, guards)
        else:
            for child in node.get_children():
                self._visit(child, guards)

    def _heads(self, node: nodes.NodeNG, guards: Guards, *blocks: list[nodes.NodeNG]) -> None:
        """Walk what is around the blocks of a statement."""
        inside = {child for block in blocks for child in block}
        for child in node.get_children():
            if child not in inside:
                self._visit(child, guards)

    def _if(self, node: nodes.If, guards: Guards) -> None:
        self._block([node], guards)

    def _lambda(self, node: nodes.Lambda, guards: Guards) -> None:
        self._visit(node.body, guards._replace(functions=(*guards.functions, node), caught=frozenset()))

    def _function(self, node: nodes.FunctionDef, guards: Guards) -> None:
        self._heads(node, guards, node.body)
        self._block(node.body, guards._replace(functions=(*guards.functions, node), caught=frozenset()))

    def _class(self, node: nodes.ClassDef, guards: Guards) -> None:
        self._heads(node, guards, node.body)
        self._block(node.body, guards)

    def _loop(self, node: nodes.For | nodes.While, guards: Guards) -> None:
        self._heads(node, guards, node.body, node.orelse)
        self._block(node.body, guards)
        self._block(node.orelse, guards)

    def _try(self, node: nodes.Try | nodes.TryStar, guards: Guards) -> None:
        caught = frozenset(name for handler in node.handlers for name in expected(handler, node.body))
        self._block(node.body, guards._replace(caught=guards.caught | caught))
        asks = any(mentions_xla(statement) for statement in node.body)
        for handler in node.handlers:
            if asks and expected(handler, node.body):
                self._skip(handler.body)
            else:
                self._block(handler.body, guards)
        self._block(node.orelse, guards)
        self._block(node.finalbody, guards)

    def _with(self, node: nodes.With, guards: Guards) -> None:
        caught: set[str] = set()
        for manager, target in node.items:
            self._visit(manager, guards)
            if target is not None:
                self._visit(target, guards)
            if isinstance(manager, nodes.Call) and dotted_name(manager.func) in SUPPRESSORS:
                caught.update(name for item in manager.args for name in exceptions(item))
        self._block(node.body, guards._replace(caught=guards.caught | caught))

    def _ternary(self, node: nodes.IfExp, guards: Guards) -> None:
        self._visit(node.test, guards)
        answer = self._tests.decide(node.test)
        for side, when in ((node.body, Answer.YES), (node.orelse, Answer.NO)):
            if answer in (when, Answer.UNRELATED):
                self._visit(side, branch(guards, node, when is Answer.YES))
            else:
                self._skip([side])

    def _boolean(self, node: nodes.BoolOp, guards: Guards) -> None:
        for position, operand in enumerate(node.values):
            self._visit(operand, guards)
            answer = self._tests.decide(operand)
            if answer is Answer.UNDECIDED or answer is Answer(node.op == "or"):
                self._skip(node.values[position + 1 :])
                return

    def _skip(self, unused: Iterable[nodes.NodeNG]) -> None:
        for item in unused:
            self._skipped.update(name.name for name in item.nodes_of_class(nodes.Name))

    def _drop_uncalled(self) -> None:
        """Leave out the functions that only the code left out refers to."""
        used = {spot.node.name for spot in self.spots if isinstance(spot.node, nodes.Name)}
        unused = self._skipped - used
        if unused:
            self.spots = [
                spot
                for spot in self.spots
                if not any(getattr(function, "name", "") in unused for function in spot.guards.functions)
            ]


VISITS: dict[type[nodes.NodeNG], Callable[[ReachableCode, Any, Guards], None]] = {
    nodes.If: ReachableCode._if,
    nodes.Lambda: ReachableCode._lambda,
    **dict.fromkeys((nodes.FunctionDef, nodes.AsyncFunctionDef), ReachableCode._function),
    nodes.ClassDef: ReachableCode._class,
    **dict.fromkeys((nodes.For, nodes.AsyncFor, nodes.While), ReachableCode._loop),
    **dict.fromkeys((nodes.Try, nodes.TryStar), ReachableCode._try),
    **dict.fromkeys((nodes.With, nodes.AsyncWith), ReachableCode._with),
    nodes.IfExp: ReachableCode._ternary,
    nodes.BoolOp: ReachableCode._boolean,
}
"""The kinds of nodes of which not all parts are walked in order, under the same guards."""


def speaking(index: Index, besides: Iterable[nodes.NodeNG] = ()) -> set[nodes.NodeNG]:
    """The nodes that import, or hold a name that may stand for something of `PACKAGES` or for a function that does.

    So do those `besides`, and what holds them.

    The functions count because one that only dead code calls is dead as well.
    """
    names = frozenset[str]().union(*map(index.names_for, PACKAGES))
    pending = [*index.imports, *besides, *(use for name in names for use in index.mentioned.get(name, ()))]
    found: set[nodes.NodeNG] = set()
    while pending:
        node: nodes.NodeNG | None = pending.pop()
        while node is not None and node not in found:
            found.add(node)
            if isinstance(node, nodes.FunctionDef):
                pending += index.mentioned.get(node.name, ())
            node = node.parent
    return found


def branch(guards: Guards, test: nodes.NodeNG, side: bool) -> Guards:
    """The guards inside one branch of an undecided test."""
    return guards._replace(branches=(*guards.branches, (test, side)))


def ends_early(body: list[nodes.NodeNG]) -> bool:
    """Whether what follows a block runs only where the block did not."""
    return bool(body) and isinstance(body[-1], LEAVING)


def exceptions(node: nodes.NodeNG | None) -> list[str]:
    """The last names of the exceptions that an `except` clause lists."""
    items: list[Any] = node.elts if isinstance(node, nodes.Tuple) else [node]
    return [last_name(item) for item in items if item is not None]


def expected(handler: nodes.ExceptHandler, body: list[nodes.NodeNG]) -> set[str]:
    """Which of `ABSENCES` a handler is there for.

    A handler of every exception is, where it stands around one statement, and what follows only weighs its result.
    """
    names = set(exceptions(handler.type))
    if "ModuleNotFoundError" in names:
        names.add("ImportError")
    if handler.type is None or names & BROAD:
        return set(ABSENCES) if is_probe(body) else set()
    return names & ABSENCES


def is_probe(body: list[nodes.NodeNG]) -> bool:
    """Whether a block asks for one thing, and does no more than to weigh the answer, or to return it."""
    rest = body[1:]
    calls = (call for statement in rest for call in statement.nodes_of_class(nodes.Call))
    return all(isinstance(statement, (nodes.If, nodes.Return)) for statement in rest) and all(
        isinstance(call.func, nodes.Name) and call.func.name in WEIGHING for call in calls
    )


def mentions_xla(node: nodes.NodeNG) -> bool:
    """Whether a statement imports or uses anything of a backend's own package."""
    for item in node.nodes_of_class((nodes.Import, nodes.ImportFrom, nodes.Name)):
        if isinstance(item, nodes.Name):
            dotted = dotted_name(item) or ""
        elif isinstance(item, nodes.ImportFrom):
            dotted = item.modname or ""
        else:
            dotted = item.names[0][0]
        if package_of(dotted) is not None:
            return True
    return False


def never_holds(test: nodes.NodeNG) -> bool:
    """True for `TYPE_CHECKING`, for False, and for what is joined to it by `and`."""
    if isinstance(test, nodes.BoolOp) and test.op == "and":
        return any(map(never_holds, test.values))
    if isinstance(test, nodes.Const):
        return not test.value
    return "TYPE_CHECKING" in (getattr(test, "name", ""), getattr(test, "attrname", ""))
