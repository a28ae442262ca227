"""The rules, one file each. Every rule class in a family's folder is found there: there is nothing to register."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections import defaultdict
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LibraryCall
from xla_lint.rules.base import Rule

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Event


@functools.cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by number."""
    found: set[type[Rule]] = set()
    for module in pkgutil.walk_packages(__path__, __name__ + "."):
        for member in vars(importlib.import_module(module.name)).values():
            own = isinstance(member, type) and member.__module__ == module.name
            if own and issubclass(member, Rule) and not inspect.isabstract(member):
                found.add(member)
    return tuple(sorted(found, key=lambda rule: rule.number))


def listeners(event: Event) -> tuple[type[Rule], ...]:
    """The rules whose `check` gets an event, by number."""
    return _interested(event.name) if isinstance(event, LibraryCall) else _subscribers()[type(event)]


@functools.cache
def _subscribers() -> dict[type[Event], tuple[type[Rule], ...]]:
    """The rules that subscribe to each kind of event."""
    found: dict[type[Event], tuple[type[Rule], ...]] = defaultdict(tuple)
    for rule in all_rules():
        for kind in rule.subscribes:
            found[kind] += (rule,)
    return found


@functools.lru_cache(maxsize=4096)
def _interested(call: str) -> tuple[type[Rule], ...]:
    """The rules to which library calls of a dotted name are of interest."""
    return tuple(rule for rule in _subscribers()[LibraryCall] if rule.is_of_interest(call))


def rule_named(symbol: str) -> type[Rule]:
    """The rule with this symbol.

    Raises:
        KeyError: there is none.
    """
    return {rule.symbol: rule for rule in all_rules()}[symbol]


def symbol_of(name: str) -> str | None:
    """The symbol of the rule that has this symbol or message id, None where none has."""
    return next((rule.symbol for rule in all_rules() if name in (rule.symbol, rule.code())), None)
