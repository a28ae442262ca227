"""Rules as the user names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.cli.usage import UsageError
from xla_lint.rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.rules.base import Rule

ALL = "all"


def rule_called(name: str) -> type[Rule]:
    """The rule with this symbol or message id.

    Raises:
        UsageError: there is none.
    """
    for rule in all_rules():
        if name in (rule.symbol, rule.code()):
            return rule
    import difflib  # noqa: PLC0415 - only a mistake needs it

    close = difflib.get_close_matches(name, [rule.symbol for rule in all_rules()])
    hint = f"did you mean {' or '.join(close)}?" if close else "'xla-lint explain' lists them"
    raise UsageError(f"there is no rule '{name}'; {hint}")


def switched(symbols: frozenset[str], switches: Iterable[tuple[str, bool]]) -> frozenset[str]:
    """Switch rules on and off, each given by its name and whether it is on; `all` goes first, the rest in order.

    Raises:
        UsageError: there is no such rule.
    """
    for name, on in sorted(switches, key=lambda switch: switch[0] != ALL):
        names = {rule.symbol for rule in all_rules()} if name == ALL else {rule_called(name).symbol}
        symbols = symbols | names if on else symbols - names
    return symbols
