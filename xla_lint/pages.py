"""A rule's documentation page: its docstring, what its fixtures cost when they run, and the fixtures themselves."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_lint.knowledge.tables import load
from xla_lint.program.backend import BACKENDS
from xla_lint.rules.base import Counter, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.backend.backend import Backend, Mode
    from xla_lint.rules.base import Rule

SEVERITIES = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.REFACTOR: "refactor",
    Severity.ADVICE: "advice",
}
COLUMNS = {
    **{counter.value: counter.value for counter in Counter},
    "barriers": "barriers",
    "callbacks": "callbacks run",
    "updates": "updates of parameters",
    "lowered": "layers computed in 16 bits",
    "graph_growth": "nodes added to the graph",
    "history_growth": "autograd nodes kept",
    "run_compiles": "compiles of the whole run",
    "graph": "nodes of the largest graph",
}
"""The figures of the measured table, with the heads of their columns. All but the last two are per step."""


def page(rule: type[Rule]) -> str:
    """The rule's page, as Markdown.

    Raises:
        OSError: the rule's fixtures cannot be read.
    """
    return "\n".join([*_head(rule), "", rule.page(), "", *_backends(rule), *_figures(rule), *_examples(rule)])


def address(rule: type[Rule]) -> str:
    """Where a user finds the page: the command that prints it, which every installation has."""
    return f"xla-lint explain {rule.symbol}"


def family(rule: type[Rule]) -> str:
    """The family a rule belongs to, which is the name of its folder: `reads`."""
    return rule.__module__.split(".")[-2]


def fixtures(rule: type[Rule]) -> tuple[Path, ...]:
    """The rule's fixtures, bad ones first.

    Raises:
        OSError: there is no folder of that symbol.
    """
    folder = _fixtures_root() / rule.symbol
    return tuple(sorted(path for path in folder.iterdir() if path.suffix == ".py"))


def measured(rule: type[Rule]) -> dict[str, dict[str, float]]:
    """What each fixture cost: the fixture's name to the figures of `COLUMNS`; empty if none was run."""
    figures: dict[str, dict[str, float]] = _measured().get(rule.symbol, {})
    return figures


def columns(figures: dict[str, dict[str, float]]) -> list[str]:
    """The figures to show: the runtime's counters, and what else tells the bad fixtures from the good ones clearly."""
    return [name for name in COLUMNS if name in {counter.value for counter in Counter} or _tells(name, figures)]


def _head(rule: type[Rule]) -> list[str]:
    default = "off unless it is enabled" if rule.severity is Severity.ADVICE else "on by default"
    head = [f"# {rule.symbol}", "", f"`{rule.code()}` · {SEVERITIES[rule.severity]} · {default} · {fixing(rule)}"]
    lines = (f"`xla-lint fix{'' if fix.safe else ' --unsafe'}` can {fix.what}." for fix in rule.fixes)
    return head + [line for text in lines for line in ("", text)]


def fixing(rule: type[Rule]) -> str:
    """Whether `xla-lint fix` can do something about the rule's findings."""
    if not rule.fixes:
        return "no fix"
    kinds = sorted({"safe" if fix.safe else "unsafe" for fix in rule.fixes})
    return f"{' or '.join(kinds)} fix"


def holds(rule: type[Rule]) -> dict[Backend, list[Mode]]:
    """The backends for which a rule speaks, each with the modes in which it does."""
    found = {backend: [mode for mode in backend.charges if mode in rule.modes] for backend in BACKENDS}
    return {backend: modes for backend, modes in found.items() if modes and backend.has(*rule.needs)}


def _backends(rule: type[Rule]) -> Iterator[str]:
    yield from ("## Where it holds", "")
    for backend, modes in holds(rule).items():
        names = ", ".join(mode.name.lower() for mode in modes)
        yield f"- {backend.project}" + (f": {names}" if len(backend.charges) > 1 else "")
    yield ""


def _figures(rule: type[Rule]) -> Iterator[str]:
    yield from ("## What it costs", "")
    figures = measured(rule)
    if figures:
        names = columns(figures)
        yield _conditions()
        yield ""
        yield "| fixture | " + " | ".join(COLUMNS[name] for name in names) + " |"
        yield "|---|" + "---:|" * len(names)
        for fixture in sorted(figures):
            yield f"| `{fixture}` | " + " | ".join(f"{figures[fixture][name]:g}" for name in names) + " |"
    elif "by source" in rule.page().lower():
        yield "No run measured it: the rule rests on reading the source, as said above."
    elif not any(backend.is_assumed for backend in holds(rule)):
        yield "No run measured it: no TPU and no Trainium was at hand. Each claim says above how it is known."
    else:
        yield "No run measured it: the runtime's counters do not show what the rule is about."
    yield ""


def _conditions() -> str:
    where = _measured()["environment"]
    return (
        f"Measured with torch_xla {where['torch_xla']} and torch {where['torch']} on the {where['device']} device. "
        "Figures are per step, in the steady state, unless the column says otherwise."
    )


def _tells(name: str, figures: dict[str, dict[str, float]]) -> bool:
    """True where every bad fixture differs from every good one in the same direction, at least twofold and by one."""
    bad = [costs[name] for fixture, costs in figures.items() if fixture.startswith("bad_")]
    good = [costs[name] for fixture, costs in figures.items() if fixture.startswith("good_")]
    if not bad or not good:
        return False
    low, high = sorted((bad, good), key=min)
    return min(high) >= max(2 * max(low), max(low) + 1)


def _examples(rule: type[Rule]) -> Iterator[str]:
    title = ""
    for path in fixtures(rule):
        kind = path.name.partition("_")[0].capitalize()
        if kind != title:
            title = kind
            yield from (f"## {title}", "")
        yield from (f"`{path.name}`", "", "```python", path.read_text(encoding="utf-8").strip(), "```", "")


def _fixtures_root() -> Path:
    """The fixtures: inside an installed package, and beside the package in a checkout."""
    package = Path(__file__).parent
    installed = package / "_fixtures"
    return installed if installed.is_dir() else package.parent / "tests" / "fixtures"


@functools.cache
def _measured() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = load("measured")
    return table
