"""Where a module uses names and arguments that not every release of a backend has."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.knowledge import api
from xla_lint.program.backend import ASSUMED
from xla_lint.program.domain.contexts import Context
from xla_lint.program.domain.events import ApiUse, UsedApi
from xla_lint.program.syntax.imports import bindings_of, dotted_name, imports_of
from xla_lint.program.syntax.index import index_of, root_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from xla_lint.knowledge.api import Argument, Life
    from xla_lint.program.domain.events import Event
    from xla_lint.program.syntax.reachable import Guards, ReachableCode, Spot

Branches = tuple[tuple[nodes.NodeNG, bool], ...]


def api_uses(code: ReachableCode, named: Mapping[nodes.NodeNG, str]) -> Iterator[Event]:
    """The uses of the backends' names, a statement or an expression each, without those that a guard answers for.

    `named` tells what attributes name that were reached through parameters, objects and choices.
    """
    names = index_of(code.module).names_for(ASSUMED.name)
    spots = [spot for spot in code.spots if spot.node in named or concerns(spot.node, names)]
    uses = [(spot, used) for spot in spots if (used := list(_used(spot, named)))]
    if not uses:
        return
    provided = {dotted for spot in spots for dotted in _provided(spot.node)}
    mentioned: dict[str, list[Branches]] = defaultdict(list)
    for spot in spots:
        for dotted in _mentions(spot.node):
            mentioned[dotted].append(spot.guards.branches)
    for spot, used in uses:
        unanswered = tuple(
            use for dotted, use in used if dotted not in provided and not _alternative(use.life, spot.guards, mentioned)
        )
        if unanswered:
            yield ApiUse(spot.node, Context((), frozenset(), (), False, False), unanswered)


def concerns(node: nodes.NodeNG, names: Collection[str]) -> bool:
    """Whether a node imports, or speaks of one of these names."""
    if isinstance(node, (nodes.Import, nodes.ImportFrom)):
        return True
    if isinstance(node, nodes.Assign):
        return any(isinstance(t, nodes.AssignAttr) and root_name(t.expr) in names for t in node.targets)
    return root_name(node) in names


def _used(spot: Spot, named: Mapping[nodes.NodeNG, str]) -> Iterator[tuple[str, UsedApi]]:
    """What is used at a spot that not every release has, by its dotted name."""
    node, caught = spot.node, spot.guards.caught
    if isinstance(node, nodes.ImportFrom) and not node.level and "ImportError" not in caught:
        for name, _ in node.names:
            dotted = f"{node.modname}.{name}"
            if (found := api.find(dotted)) is not None and found.life.ends:
                yield dotted, UsedApi(dotted, found.life)
    elif isinstance(node, nodes.Import) and "ImportError" not in caught:
        for name, _ in node.names:
            if (found := api.find(name)) is not None and (found.life.ends or not found.is_module):
                yield name, UsedApi(name, found.life, importable=found.is_module)
    elif isinstance(node, nodes.Attribute) and "AttributeError" not in caught:
        yield from _attribute(node, named)
    elif isinstance(node, nodes.Call) and "TypeError" not in caught:
        for argument in api.arguments().get(dotted_name(node.func) or "", ()):
            if gives(node, argument):
                name = f"{node.func.as_string()}({argument.name}=)"
                yield name, UsedApi(name, argument.life, argument=argument)


def _attribute(node: nodes.Attribute, named: Mapping[nodes.NodeNG, str]) -> Iterator[tuple[str, UsedApi]]:
    """A name that is spelled out here: what an import names whole is the import's affair."""
    dotted = dotted_name(node) or named.get(node)
    found = api.find(dotted) if dotted is not None else None
    if dotted is None or found is None or not found.life.ends or len(dotted) < len(found.name):
        return
    owner = dotted_name(node.expr) or dotted.rpartition(".")[0]
    if api.find(owner) is not found:
        yield dotted, UsedApi(node.as_string(), found.life)


def gives(call: nodes.Call, argument: Argument) -> bool:
    """Whether a call passes an argument: by its name, or as a text in its place."""
    value = next((keyword.value for keyword in call.keywords if keyword.arg == argument.name), None)
    if value is None and argument.position is not None and argument.position < len(call.args):
        given = call.args[argument.position]
        value = given if isinstance(given, nodes.Const) and isinstance(given.value, str) else None
    if value is None:
        return False
    return not argument.values or (isinstance(value, nodes.Const) and value.value in argument.values)


def _mentions(node: nodes.NodeNG) -> Iterator[str]:
    if isinstance(node, (nodes.Attribute, nodes.Name)):
        dotted = dotted_name(node)
        if dotted is not None and dotted.startswith(ASSUMED.name):
            yield dotted
        if isinstance(node, nodes.Name):
            yield from (name for _, name in imports_of(node)[1:])
    elif isinstance(node, nodes.ImportFrom) and not node.level:
        yield from (f"{node.modname}.{name}" for name, _ in node.names)


def _provided(node: nodes.NodeNG) -> Iterator[str]:
    """The names that an assignment sets on a backend's modules."""
    for target in node.targets if isinstance(node, nodes.Assign) else ():
        if isinstance(target, nodes.AssignAttr) and (owner := dotted_name(target.expr)):
            yield f"{owner}.{target.attrname}"


def _alternative(life: Life, guards: Guards, mentioned: dict[str, list[Branches]]) -> bool:
    """Whether another branch of a test around it uses what replaces it: the code chooses between releases itself."""
    for replacement in life.replacements:
        name = re.split(r"[( ]", replacement.spelling)[0]
        for branches in mentioned.get(name, ()):
            if any((test, not side) in guards.branches and not _counts(test) for test, side in branches):
                return True
    return False


def _counts(choice: nodes.NodeNG) -> bool:
    """Whether a choice hangs on what changes with a loop, which no release does."""
    names = getattr(choice, "test", choice).nodes_of_class(nodes.Name)
    bindings = (binding for name in names for binding in bindings_of(name))
    return any(isinstance(binding.statement(), (nodes.For, nodes.AugAssign)) for binding in bindings)
