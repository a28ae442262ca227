"""Which imports of a package bring nothing that their module uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.syntax.index import index_of
from xla_lint.program.syntax.names import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator


def unused_names(statement: nodes.Import | nodes.ImportFrom, package: str) -> Iterator[str]:
    """The dotted names of a package that an import brings for nothing, as far as its own module tells.

    None under a test or a `try`, which may ask whether the package is there, and none in a module that passes names on.
    """
    module = statement.root()
    level = getattr(statement, "level", None) or 0
    if level or module.package or "__all__" in module.locals:
        return
    if not isinstance(statement.parent, (nodes.Module, nodes.FunctionDef)):
        return
    mentioned = index_of(module).mentioned
    for name, alias in statement.names:
        dotted = canonical(name if isinstance(statement, nodes.Import) else f"{statement.modname}.{name}")
        bound = alias or (name.partition(".")[0] if isinstance(statement, nodes.Import) else name)
        if dotted.partition(".")[0] == package and name != "*" and bound not in mentioned:
            yield dotted
