"""The rules' pages for editors: a file that a link can open, and the parts that a hover shows, without a network."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import platformdirs

from xla_lint import __version__
from xla_lint.pages import page
from xla_lint.rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

SHOWN = ("Why it matters", "What it costs", "What to write instead")
"""The headings of what a hover shows."""
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class RulePage:
    """What an editor shows of a rule."""

    uri: str | None
    """Where its page lies; None where no file can be written."""
    excerpt: str
    """Why it matters, what it costs and what to write instead, as Markdown."""
    has_fixes: bool
    """Whether something can be done about some of its findings."""


@functools.cache
def rule_page(symbol: str) -> RulePage:
    """The page of a rule, which is written to the user's cache."""
    rule = next(rule for rule in all_rules() if rule.symbol == symbol)
    text = page(rule)
    sections = dict(SECTION.findall(text))
    excerpt = "\n\n".join(f"**{name}**\n\n{sections[name].strip()}" for name in SHOWN if name in sections)
    folder = platformdirs.user_cache_path("xla-lint", appauthor=False) / "pages" / __version__
    return RulePage(written(folder / f"{symbol}.md", text), excerpt, bool(rule.fixes))


def written(path: Path, text: str) -> str | None:
    """The address of a file that holds a text, which is written where it does not; None where it cannot be."""
    try:
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError:
        return None
    return path.as_uri()
