"""The plan as text, as JSON, and as a page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jinja2

from xla_lint.migration.plan import TITLES, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xla_lint.migration.plan import Plan
    from xla_lint.migration.uses import Use


def text(plan: Plan) -> str:
    """The plan for a terminal."""
    return "".join(f"{line}\n" for line in _lines(plan))


def _lines(plan: Plan) -> Iterator[str]:
    for share in plan.shares:
        yield f"{share.path}: {share.counts}"
        for group, title in TITLES.items():
            places = together(share.of(group))
            if places:
                yield f"  {title}"
            for (written, advice), lines in places.items():
                yield f"    {written} (line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}): {advice}"
        yield ""
    topics = plan.topics
    if topics:
        yield "to decide, each once for all files:"
        for topic in topics:
            yield f"  {topic.uses} x {topic.advice} ({', '.join(topic.paths)})"
        yield ""
    files = len(plan.shares)
    amount = counted(plan.uses) or "nothing to change"
    yield f"to {plan.target}: {amount}" + (f" in {files} file{'s' * (files != 1)}" if files else "")


def together(uses: Iterable[Use]) -> dict[tuple[str, str], list[int]]:
    """The lines of uses that read the same and of which the same is said."""
    found: dict[tuple[str, str], list[int]] = {}
    for use in uses:
        found.setdefault((use.written, use.advice), []).append(use.line)
    return found


def as_json(plan: Plan) -> str:
    """The plan for programs."""
    files = [
        {
            "path": share.path,
            "uses": [
                {
                    "line": use.line,
                    "column": use.column,
                    "written": use.written,
                    "name": use.name,
                    "group": TITLES[use.group],
                    "advice": use.advice,
                }
                for use in share.uses
            ],
        }
        for share in plan.shares
    ]
    topics = [{"advice": topic.advice, "uses": topic.uses, "paths": list(topic.paths)} for topic in plan.topics]
    totals = {title: sum(use.group is group for use in plan.uses) for group, title in TITLES.items()}
    return json.dumps({"to": plan.target, "totals": totals, "topics": topics, "files": files}, indent=2) + "\n"


def html(plan: Plan) -> str:
    """The plan as a page that needs nothing but itself."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("xla_lint.migration"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    totals = [(title, sum(use.group is group for use in plan.uses)) for group, title in TITLES.items()]
    return environment.get_template("migration.html.jinja").render(
        plan=plan, titles=TITLES, totals=totals, together=together
    )
