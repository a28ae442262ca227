"""The way of a line that docs/architecture.md describes leads through functions that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "xla_lint"
PROGRAM = PACKAGE / "program"


def hops() -> list[tuple[str, str]]:
    """Each file that is named, and a function, class or method in it."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    way = text.partition("## A line's way through\n")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w/]+\.py): ([^`]+)`", way)
    return [(file, name) for file, names in named for name in names.split(", ")]


@pytest.mark.parametrize(("file", "name"), hops())
def test_a_hop_leads_somewhere(file: str, name: str) -> None:
    path = next(path for path in (PACKAGE / file, PROGRAM / file) if path.exists())
    tree = ast.parse(path.read_text(encoding="utf-8"))
    owner, _, member = name.rpartition(".")
    body = (
        tree.body if not owner else next(n.body for n in tree.body if isinstance(n, ast.ClassDef) and n.name == owner)
    )
    defined = {n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    defined |= {t.id for n in body if isinstance(n, ast.AnnAssign) for t in [n.target] if isinstance(t, ast.Name)}
    assert member in defined


def test_there_is_a_way() -> None:
    assert len(hops()) > 30
