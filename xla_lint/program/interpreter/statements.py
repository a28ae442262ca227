"""Statements that stand alone, and the statements of a module or a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.machine.boundary import Boundary
from xla_lint.program.machine.meanings import statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.program.machine.machine import Machine


DEFINITIONS = (nodes.FunctionDef, nodes.ClassDef, nodes.Import, nodes.ImportFrom)


@statement(nodes.Expr)
def expression_statement(machine: Machine, node: nodes.Expr) -> None:
    machine.evaluate(node.value)


def run_definitions(machine: Machine, body: Iterable[nodes.NodeNG]) -> None:
    """Run the statements of a module or a class; after one that fails, what it defines and imports."""
    whole = True
    for node in body:
        if machine.at.state is None:
            return
        if whole or isinstance(node, DEFINITIONS):
            with Boundary(machine, node) as boundary:
                machine.run([node])
            if boundary.failed:
                whole = False
                machine.opaque()
