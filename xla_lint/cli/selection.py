"""Which findings are wanted: rules by symbol, family or severity, and the levels of confidence."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.cli.usage import UsageError, meant
from xla_lint.engine import default_symbols
from xla_lint.pages import SEVERITIES, family
from xla_lint.rules import all_rules
from xla_lint.rules.base import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.rules.base import Rule

ALL = "all"
LEVELS = frozenset(level.value for level in Confidence)


class Names(NamedTuple):
    """What one name stands for: some rules, or a level of confidence."""

    symbols: frozenset[str]
    levels: frozenset[str]


class Selection(NamedTuple):
    """The rules and the levels of confidence whose findings are wanted."""

    symbols: frozenset[str]
    levels: frozenset[str] = LEVELS

    @classmethod
    def default(cls) -> Selection:
        """Every rule but advice, however sure."""
        return cls(default_symbols())

    def only(self, names: Iterable[str]) -> Selection:
        """The rules that are named, together, where any is; likewise the levels of confidence.

        Raises:
            UsageError: there is no such name.
        """
        symbols, levels = together(names)
        return Selection(symbols or self.symbols, levels or self.levels)

    def switched(self, switches: Iterable[tuple[str, bool]]) -> Selection:
        """Add what is switched on and take away what is switched off; `all` goes first, the rest in order.

        Raises:
            UsageError: there is no such name.
        """
        symbols, levels = self.symbols, self.levels
        for name, on in sorted(switches, key=lambda switch: switch[0] != ALL):
            named = named_by(name)
            symbols = symbols | named.symbols if on else symbols - named.symbols
            levels = levels | named.levels if on else levels - named.levels
        return Selection(symbols, levels)

    def takes(self, symbol: str, confidence: str) -> bool:
        """Whether a finding is wanted."""
        return symbol in self.symbols and confidence in self.levels


def together(names: Iterable[str]) -> Names:
    """What all of some names stand for.

    Raises:
        UsageError: there is no such name.
    """
    found = [named_by(name) for name in names]
    nothing: frozenset[str] = frozenset()
    return Names(nothing.union(*(one.symbols for one in found)), nothing.union(*(one.levels for one in found)))


def named_by(name: str) -> Names:
    """What a name stands for.

    Raises:
        UsageError: nothing bears it.
    """
    known = _names().get(name) or _names().get(name.lower()) or _names().get(name.upper())
    if known is None:
        hint = meant(name, _names()) or "'xla-lint explain' lists the rules"
        raise UsageError(f"'{name}' is no rule, family, severity or level of confidence; {hint}")
    return known


def rule_called(name: str) -> type[Rule]:
    """The rule with this symbol or message id.

    Raises:
        UsageError: there is none.
    """
    for rule in all_rules():
        if name in (rule.symbol, rule.code()):
            return rule
    hint = meant(name, [rule.symbol for rule in all_rules()]) or "'xla-lint explain' lists them"
    raise UsageError(f"there is no rule '{name}'; {hint}")


@functools.cache
def _names() -> dict[str, Names]:
    """Everything that has a name: rules by symbol and message id, families, severities and their letters, levels."""
    rules: dict[str, set[str]] = {}
    for rule in all_rules():
        severity = SEVERITIES[rule.severity]
        for name in (rule.symbol, rule.code(), family(rule), severity, rule.severity.value, ALL):
            rules.setdefault(name, set()).add(rule.symbol)
    nothing: frozenset[str] = frozenset()
    levels = {level: Names(nothing, frozenset({level})) for level in LEVELS}
    return {**{name: Names(frozenset(symbols), nothing) for name, symbols in rules.items()}, **levels}
