"""What the modules that a program was run from say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.syntax.imports import always_imports_xla

if TYPE_CHECKING:
    from xla_lint.program.interpreter.analysis import Program


def heads(program: Program) -> list[nodes.Module]:
    """The module that is checked, and the one that was run where it is another one."""
    entry = program.project.tree(program.entry) if program.entry is not None else None
    return [program.module] if entry is None else [program.module, entry]


def committed(program: Program) -> bool:
    """Whether a program cannot run without torch_xla."""
    return any(always_imports_xla(module) for module in heads(program))


def is_script(program: Program) -> bool:
    """Whether a program does something when it is run by itself."""
    statements = (statement for module in heads(program) for statement in module.body)
    return any(isinstance(node, nodes.If) and "__name__" in node.test.as_string() for node in statements)
