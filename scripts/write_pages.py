"""Write docs/rules/ anew, one page a rule and the index by family, docs/guides.md and docs/files.md."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from guides import guides

from xla_lint.pages import SEVERITIES, family, fixing, page
from xla_lint.rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guides import Point

    from xla_lint.rules.base import Rule

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "rules"
GUIDES = ROOT / "docs" / "guides.md"
FILES = ROOT / "docs" / "files.md"
PACKAGE = ROOT / "xla_lint"
ABOUT_GUIDES = (
    "Three guides have taught many people to train on XLA devices through SageMaker and Accelerate. Here is each thing "
    "that they tell people to do, with the rule that finds code which does not, or pylint's own message, or why no "
    "linter can. A snippet in `tests/guides/` violates each point that is checked, and a test sees that the rule fires."
    " The mistakes in the guides themselves follow."
)


def pages() -> dict[str, str]:
    """The text of every page, by file name."""
    texts = {f"{rule.symbol}.md": page(rule) for rule in all_rules()}
    return {"README.md": index(), **texts}


def index() -> str:
    """The index: the rules of each family, in the order of their numbers."""
    lines = ["# Rules", "", "<!-- Written by scripts/write_pages.py from the rules and their fixtures. -->"]
    families: dict[str, list[type[Rule]]] = {}
    for rule in all_rules():
        families.setdefault(family(rule), []).append(rule)
    for name, rules in families.items():
        about = inspect.getdoc(importlib.import_module(f"xla_lint.rules.{name}")) or name
        lines += [
            "",
            f"## {about.splitlines()[0].rstrip('.')}",
            "",
            "| rule | severity | fix | finds |",
            "|---|---|---|---|",
        ]
        for rule in rules:
            summary = rule.page().splitlines()[0].replace("|", "\\|")
            fix = fixing(rule).removesuffix("fix").strip().replace("no", "")
            lines.append(f"| [`{rule.symbol}`]({rule.symbol}.md) | {SEVERITIES[rule.severity]} | {fix} | {summary} |")
    return "\n".join([*lines, ""])


def guides_page() -> str:
    """What the user guides tell people to do, and what finds a violation."""
    table = guides()
    lines = [
        "# What the user guides say",
        "",
        "<!-- Written by scripts/write_pages.py from scripts/guides.json. -->",
        "",
        ABOUT_GUIDES,
    ]
    for guide in table.guides:
        where = f" <{guide.address}>" if guide.address else ""
        lines += ["", f"## {guide.title}", "", f"Points {guide.key}.{where}", ""]
        lines += _points("what to do", (point for point in table.points if point.guide == guide.key))
    lines += ["", "## Mistakes in the guides", "", "Code that users paste.", ""]
    lines += _points("the code, and what happens", table.mistakes)
    return "\n".join([*lines, ""])


def files_page() -> str:
    """Every file of the package but the rules, with the first line of its docstring."""
    lines = [
        "# Every file, and why it exists",
        "",
        "<!-- Written by scripts/write_pages.py from the first line of each file. -->",
        "",
        "The rules have [pages of their own](rules/README.md); [how it all hangs together](architecture.md).",
    ]
    for folder in sorted({path.parent for path in PACKAGE.rglob("*.py")}):
        own = folder.relative_to(ROOT).as_posix()
        if "_fixtures" in folder.parts or own.startswith("xla_lint/rules/"):
            continue
        lines += ["", f"## `{own}/`", "", "| file | reason to exist |", "|---|---|"]
        for path in sorted(folder.glob("*.py")):
            about = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
            lines.append(f"| `{path.name}` | {about.replace('|', chr(92) + '|')} |")
    return "\n".join([*lines, ""])


def _points(head: str, points: Iterable[Point]) -> list[str]:
    rows = [f"| point | {head} | what finds it |", "|---|---|---|"]
    for point in points:
        found = [f"[`{symbol}`](rules/{symbol}.md)" for symbol in point.checks]
        found += [f"pylint's `{symbol}`" for symbol in point.pylint]
        answer = ", ".join(found) or f"Nothing. {point.reason}"
        rows.append(f"| {point.number} | {point.says} | {answer} |".replace("\n", " "))
    return rows


def main() -> None:
    """Replace the pages: those of rules that are gone disappear."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    GUIDES.write_text(guides_page(), encoding="utf-8")
    FILES.write_text(files_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
