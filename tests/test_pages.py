"""Every rule has its page, and the pages in docs/rules/ are those of the rules as they are."""

from __future__ import annotations

import pytest
import write_pages

from xla_lint.pages import COLUMNS, address, columns, fixtures, measured, page
from xla_lint.rules import all_rules
from xla_lint.rules.base import HEADINGS, Counter, Rule

EVERY_RULE = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.symbol)


def test_committed_pages_are_up_to_date() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in write_pages.FOLDER.glob("*.md")}
    fresh = write_pages.pages()
    drifted = sorted(name for name in {*committed, *fresh} if committed.get(name) != fresh.get(name))
    assert not drifted, f"run 'tox run -e docs': {drifted} in docs/rules/ differ from the rules"


def test_the_list_of_files_is_up_to_date() -> None:
    assert write_pages.FILES.read_text(encoding="utf-8") == write_pages.files_page(), "run 'tox run -e docs'"


def test_every_file_says_why_it_exists() -> None:
    rows = [line for line in write_pages.files_page().splitlines() if line.startswith("| `")]
    assert not [row for row in rows if row.endswith("|  |")]


@EVERY_RULE
def test_a_page_shows_every_part(rule: type[Rule]) -> None:
    text = page(rule)
    assert text.startswith(f"# {rule.symbol}\n\n`{rule.code()}`")
    positions = [text.index(f"## {heading}") for heading in (*HEADINGS, "What it costs", "Bad", "Good")]
    assert positions == sorted(positions)
    for path in fixtures(rule):
        assert path.read_text(encoding="utf-8").strip() in text


@EVERY_RULE
def test_figures_are_those_of_the_measured_fixtures(rule: type[Rule]) -> None:
    table = [line.split("|")[1:-1] for line in page(rule).splitlines() if line.startswith(("| fixture |", "| `"))]
    assert {row[0].strip(" `") for row in table[1:]} == set(measured(rule)) <= {path.stem for path in fixtures(rule)}
    for name, *cells in table[1:]:
        figures = measured(rule)[name.strip(" `")]
        heads = [head.strip() for head in table[0][1:]]
        assert heads[: len(Counter)] == [counter.value for counter in Counter]
        assert [float(cell) for cell in cells] == [figures[key] for key, head in COLUMNS.items() if head in heads]
    assert ("No run measured it" in page(rule)) is not bool(measured(rule))


def test_a_column_is_shown_where_it_tells_bad_from_good() -> None:
    same = dict.fromkeys(COLUMNS, 1.0)
    figures = {
        "bad_a": {**same, "graph": 40.0, "barriers": 2.0},
        "bad_b": {**same, "graph": 60.0, "barriers": 1.0},
        "good_a": {**same, "graph": 20.0},
    }
    assert columns(figures) == [*(counter.value for counter in Counter), "graph"]


def test_the_index_links_every_page() -> None:
    text = write_pages.index()
    for rule in all_rules():
        assert text.count(f"[`{rule.symbol}`]({rule.symbol}.md)") == 1


def test_the_address_names_the_rule() -> None:
    assert [address(rule).split()[-1] for rule in all_rules()] == [rule.symbol for rule in all_rules()]
