"""The rules, one file each. Whatever stands in a family's folder is a rule: there is nothing to register."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil

from xla_lint.rules.base import Rule


@functools.cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by number."""
    found: set[type[Rule]] = set()
    for module in pkgutil.walk_packages(__path__, __name__ + "."):
        for _, member in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(member, Rule) and not inspect.isabstract(member) and member.__module__ == module.name:
                found.add(member)
    return tuple(sorted(found, key=lambda rule: rule.number))


def rule_named(symbol: str) -> type[Rule]:
    """The rule with this symbol.

    Raises:
        KeyError: there is none.
    """
    return {rule.symbol: rule for rule in all_rules()}[symbol]
