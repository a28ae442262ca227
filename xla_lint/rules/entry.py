"""What the modules of a program say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.syntax.imports import always_imports_xla

if TYPE_CHECKING:
    from xla_lint.program.interpreter.analysis import Program


def heads(program: Program, node: nodes.NodeNG) -> list[nodes.Module]:
    """The module in which a node stands, and the one that was run where it is another one."""
    module = node.root()
    return [module] if module is program.module else [module, program.module]


def committed(program: Program, node: nodes.NodeNG) -> bool:
    """Whether a program cannot run without torch_xla, as a node's module and the one that was run tell."""
    return any(always_imports_xla(module) for module in heads(program, node))


def is_script(program: Program, node: nodes.NodeNG) -> bool:
    """Whether a program does something when it is run by itself, as the same two modules tell."""
    statements = (statement for module in heads(program, node) for statement in module.body)
    return any(isinstance(node, nodes.If) and "__name__" in node.test.as_string() for node in statements)
