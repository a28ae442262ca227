"""Flags that a module states once: `DEBUG = False` at its top level, which nothing sets anew."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import DEVICE_TYPES, OWN_PACKAGES
from xla_lint.program.syntax.imports import assigned_value, bindings_of
from xla_lint.program.syntax.index import index_of

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

SETTING = frozenset({"exec", "globals"})
"""What may set any name of a module."""
DEVICES = re.compile("|".join(map(re.escape, (*DEVICE_TYPES, *OWN_PACKAGES))), re.IGNORECASE)


def is_constant_flag(machine: Machine, node: nodes.NodeNG) -> bool:
    """Whether a test asks a name that stands for a truth which its module, or the one it comes from, states once."""
    if not isinstance(node, nodes.Name):
        return False
    bindings = bindings_of(node)
    if len(bindings) != 1:
        return False
    binding = bindings[0]
    if isinstance(binding, nodes.ImportFrom):
        original = next((name for name, alias in binding.names if (alias or name) == node.name), "")
        return any(states(module, original) for module in sources(machine, binding)) and not is_set(machine, original)
    return states(node.root(), node.name) and not is_set(machine, node.name)


def sources(machine: Machine, statement: nodes.ImportFrom) -> list[nodes.Module]:
    """The modules of the project that an import of names may stand for."""
    last = (statement.modname or "").rpartition(".")[2]
    modules = (frame.module for path, frame in machine.modules.items() if path.stem == last)
    return [module for module in modules if module is not None]


@lru_cache(maxsize=256)
def states(module: nodes.Module, name: str) -> bool:
    """Whether the top level of a module gives a name a truth, under no test, and nothing else in it binds the name.

    What chooses the device is no such flag: the program is looked at as one that runs there.
    """
    bound = [binding for binding in module.locals.get(name, ()) if isinstance(binding, nodes.NodeNG)]
    value = assigned_value(bound[0]) if len(bound) == 1 else None
    if not (isinstance(value, nodes.Const) and isinstance(value.value, bool)):
        return False
    if bound[0].statement().parent is not module:
        return False
    mentioned = index_of(module).mentioned
    return SETTING.isdisjoint(mentioned) and not any(map(chooses_device, mentioned.get(name, ())))


def chooses_device(flag: nodes.Name) -> bool:
    """Whether a test of a flag decides whether a backend is imported or named."""
    test = next((outer for outer in flag.node_ancestors() if isinstance(outer, (nodes.If, nodes.IfExp))), None)
    return (
        test is not None
        and (flag is test.test or test.test.parent_of(flag))
        and DEVICES.search(test.as_string()) is not None
    )


def is_set(machine: Machine, name: str) -> bool:
    """Whether a module of the program sets an attribute of that name on something, perhaps on the module."""
    indexes = (frame.index for frame in machine.modules.values())
    return any(index is not None and name in index.set_attributes for index in indexes)
