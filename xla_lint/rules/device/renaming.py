"""What the fixes of names do: each use of an old name becomes one of the name that the target release has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Call, ChangeCall, Fix, Give, ImportInstead, Name, Refer, Span
from xla_lint.knowledge import api
from xla_lint.rules.importing import importable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.fixes.changes import Change
    from xla_lint.knowledge.api import Argument, Replacement
    from xla_lint.knowledge.releases import Release
    from xla_lint.program.backend.backend import Backend
    from xla_lint.program.domain.events import UsedApi

RENAME = Fix("use the name that the target release has", safe=True)


def renamed(node: nodes.NodeNG, uses: Iterable[UsedApi], backend: Backend, target: Release) -> list[Change | None]:
    """The changes that rename what a node uses; None for a use that is no matter of names."""
    if isinstance(node, (nodes.Import, nodes.ImportFrom)):
        return [_import(node, use, backend, target) for use in uses]
    if isinstance(node, nodes.Attribute):
        return [_reference(node, use.life.replaced_by(target), backend) for use in uses]
    if isinstance(node, nodes.Call):
        return [_argument(node, use.argument, backend, target) for use in uses]
    return [None]


def _import(node: nodes.NodeNG, use: UsedApi, backend: Backend, target: Release) -> Change | None:
    if not use.importable and api.exists(use.spelled, target) is not False:
        return ImportInstead(Span.of(node), use.spelled, importable(use.spelled, backend))
    found, old = api.find(use.spelled), use.life.replaced_by(target)
    if found is None or old is None or old.name is None:
        return None
    if not found.is_module:
        return ImportInstead(Span.of(node), use.spelled, importable(old.name, backend), old.takes)
    if found.name == use.spelled:
        members = (name.rpartition(".") for name in api.names() if api.exists(name, target))
        known = frozenset(member for module, _, member in members if module == old.name)
        return ImportInstead(Span.of(node), use.spelled, Name(old.name), members=known)
    name = old.name + use.spelled.removeprefix(found.name)
    return ImportInstead(Span.of(node), use.spelled, importable(name, backend)) if api.exists(name, target) else None


def _reference(node: nodes.NodeNG, new: Replacement | None, backend: Backend) -> Change | None:
    if not isinstance(node, nodes.Attribute) or new is None or new.name is None or new.takes is None:
        return None
    return Refer(Span.of(node), importable(new.name, backend), new.takes)


def _argument(call: nodes.Call, argument: Argument | None, backend: Backend, target: Release) -> Change | None:
    if argument is None:
        return None
    function = api.names().get(argument.call)
    if function is not None and function.life.is_deprecated(target):
        return _reference(call.func, function.life.replaced_by(target), backend)
    new = argument.life.replaced_by(target)
    if new is None or argument.name not in {keyword.arg for keyword in call.keywords}:
        return None
    if new.name is not None:
        return ChangeCall(Span.of(call), (Call(argument.name, new.name),))
    return ChangeCall(Span.of(call), (Give(argument.name, f'"{new.value}"'),)) if new.value is not None else None
