"""The page about the user guides is complete, and each rule that it names fires on a snippet."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import write_pages
from guides import Point, guides

from tests.doors import pylint
from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import decode, parse, read
from xla_lint.rules import all_rules

SNIPPETS = sorted((Path(__file__).parent / "guides").glob("*.py"))
EXPECTATION = re.compile(r"# expect: ([a-z0-9-]+)$", re.MULTILINE)
ENTRIES = (*guides().points, *guides().mistakes)
POINTS = {"A": 38, "B": 19, "C": 13}
"""How many things each guide tells people to do."""

_every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.number)


def snippets(entry: Point) -> list[Path]:
    return [path for path in SNIPPETS if path.stem.partition("_")[0] == entry.number.lower()]


def expected(path: Path) -> set[tuple[int, str]]:
    lines = enumerate(decode(read(path)).splitlines(), 1)
    return {(number, match[1]) for number, line in lines if (match := EXPECTATION.search(line))}


def test_every_point_is_there() -> None:
    assert Counter(point.guide for point in guides().points) == POINTS
    assert len(guides().mistakes) == 16
    assert max(Counter(entry.number for entry in ENTRIES).values()) == 1


@_every_entry
def test_an_entry_names_what_finds_it_or_the_reason(entry: Point) -> None:
    assert bool(entry.checks or entry.pylint) is not bool(entry.reason)
    assert set(entry.checks) <= {rule.symbol for rule in all_rules()}
    assert entry.guide in {guide.key for guide in guides().guides}


@_every_entry
def test_snippets_show_what_an_entry_names(entry: Point) -> None:
    shown = {symbol for path in snippets(entry) for _, symbol in expected(path)}
    assert shown == {*entry.checks, *entry.pylint}


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_a_snippet_makes_its_rule_fire(path: Path) -> None:
    (entry,) = [entry for entry in ENTRIES if path in snippets(entry)]
    own = {*entry.checks, *entry.pylint}
    if entry.pylint:
        messages = ("--disable=all", "--enable=" + ",".join(sorted(own)))
        found = {(message.line, message.symbol) for message in pylint(path, messages=messages)}
    else:
        findings = check_module(parse(decode(read(path)), path), Project(), Settings())
        found = {(int(f.node.lineno or 0), f.rule.symbol) for f in findings}
    relevant = default_symbols() if entry.reason else own
    assert {(line, symbol) for line, symbol in found if symbol in relevant} == expected(path)


def test_the_committed_page_is_up_to_date() -> None:
    assert write_pages.GUIDES.read_text(encoding="utf-8") == write_pages.guides_page(), "run 'tox run -e docs'"
