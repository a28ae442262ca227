"""What findings cost, as far as is known: by their severity, and by what the bad examples of their rules cost more.

Nothing is added up across kinds: an error weighs more than any warning, a compilation in a step more than any number of
executions, and an execution more than any number of reads.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.pages import measured
from xla_lint.rules import rule_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.cli.results import Located

SEVERITIES = ("advice", "refactor", "warning", "error")
"""The mildest first."""
LEVELS = ("INFERENCE", "CONTROL_FLOW", "HIGH")
"""The least sure first."""


class Price(NamedTuple):
    """What a finding costs, the weightiest part first; figures are per step."""

    severity: int
    compiles: float
    """Compilations; a graph that grows every step counts as one that is compiled anew."""
    executions: float
    reads: float
    sureness: int
    grows: bool = False
    """Whether the graph grows every step."""

    def words(self) -> str:
        """What was measured, in a few words; empty where that is nothing."""
        if self.grows:
            return "the graph grows every step in the rule's examples"
        parts = {"compilation": self.compiles, "execution": self.executions, "read": self.reads}
        told = [f"{number:.2g} {name}{'s' * (number != 1)}" for name, number in parts.items() if number]
        return f"{', '.join(told)} more a step in the rule's examples" if told else ""


def price(finding: Located) -> Price:
    """What a finding costs."""
    more = _measured(finding.symbol)
    grows = more["graph_growth"] > 0 and not more["compiles"]
    severity, sureness = SEVERITIES.index(finding.severity), LEVELS.index(finding.confidence)
    return Price(severity, more["compiles"] or float(grows), more["executions"], more["reads"], sureness, grows)


@dataclass(frozen=True, slots=True)
class Change:
    """What ends several findings of a file: the same is written instead of each."""

    findings: tuple[Located, ...]
    remedy: str


def changes(findings: Iterable[Located]) -> list[Change]:
    """What findings ask for, what helps most first: by the dearest finding that a change ends, then by their number."""
    groups: dict[tuple[str, str, str], list[Located]] = defaultdict(list)
    for finding in findings:
        groups[finding.path, finding.symbol, remedy_of(finding)].append(finding)
    found = [Change(tuple(group), remedy) for (_, _, remedy), group in groups.items()]
    return sorted(found, key=lambda change: (max(map(price, change.findings)), len(change.findings)), reverse=True)


def remedy_of(finding: Located) -> str:
    """What a message says is to be written instead: its last part."""
    message = finding.message.partition(" (part of the ")[0]
    return message.rpartition("; ")[2]


@functools.cache
def _measured(symbol: str) -> dict[str, float]:
    """How much more of each figure the bad examples of a rule have than the good ones, on average."""
    rows = measured(rule_named(symbol))
    figures = {}
    for name in ("compiles", "executions", "reads", "graph_growth"):
        bad = [row[name] for fixture, row in rows.items() if fixture.startswith("bad_")]
        good = [row[name] for fixture, row in rows.items() if fixture.startswith("good_")]
        figures[name] = max(0.0, sum(bad) / len(bad) - sum(good) / len(good)) if bad and good else 0.0
    return figures
