"""Write docs/rules/ anew: one page a rule, and the index by family."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.pages import SEVERITIES, family, page
from xla_lint.rules import all_rules

if TYPE_CHECKING:
    from xla_lint.rules.base import Rule

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "rules"


def pages() -> dict[str, str]:
    """The text of every page, by file name."""
    texts = {f"{rule.symbol}.md": page(rule) for rule in all_rules()}
    return {"README.md": index(), **texts}


def index() -> str:
    """The index: the rules of each family, in the order of their numbers."""
    lines = ["# Rules", "", "Written by `scripts/write_pages.py` from the rules and their fixtures; do not edit."]
    families: dict[str, list[type[Rule]]] = {}
    for rule in all_rules():
        families.setdefault(family(rule), []).append(rule)
    for name, rules in families.items():
        about = inspect.getdoc(importlib.import_module(f"xla_lint.rules.{name}")) or name
        lines += ["", f"## {about.splitlines()[0].rstrip('.')}", "", "| rule | severity | says |", "|---|---|---|"]
        for rule in rules:
            summary = rule.page().splitlines()[0].replace("|", "\\|")
            lines.append(f"| [`{rule.symbol}`]({rule.symbol}.md) | {SEVERITIES[rule.severity]} | {summary} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Replace the pages: those of rules that are gone disappear."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
