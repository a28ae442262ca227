"""What is computed from the table of verdicts, and that the committed page holds it."""

from __future__ import annotations

from pathlib import Path

import pytest
import verdicts
from verdicts import VerdictError, page, read, report

from xla_lint.rules import all_rules

HEAD = "repository\tcommit\tpath\tline\tsymbol\tconfidence\tverdict\n"
ROW = "a/b\tabc\ttrain.py\t{line}\txla-value-read\t{level}\t{verdict}\n"


def table(folder: Path, *rows: str) -> Path:
    path = folder / "verdicts.tsv"
    path.write_text(HEAD + "".join(rows), encoding="utf-8")
    return path


def test_shares_leave_debatable_findings_out(tmp_path: Path) -> None:
    judged = (("HIGH", "true"), ("HIGH", "true"), ("HIGH", "false"), ("HIGH", "debatable"), ("INFERENCE", "debatable"))
    rows = [ROW.format(line=line, level=level, verdict=verdict) for line, (level, verdict) in enumerate(judged, 1)]
    lines = report(read(table(tmp_path, *rows))).splitlines()
    assert lines[0] == "5 findings in 1 public repositories, each judged at its source."
    assert "| HIGH | 2 | 1 | 1 | 67% |" in lines
    assert "| INFERENCE | 0 | 0 | 1 |  |" in lines
    assert "| xla-value-read | 2 | 1 | 2 | 67% |" in lines


@pytest.mark.parametrize(
    "row",
    [
        ROW.format(line="x", level="HIGH", verdict="true"),
        ROW.format(line=1, level="SURE", verdict="true"),
        ROW.format(line=1, level="HIGH", verdict="maybe"),
        "a/b\tabc\n",
    ],
)
def test_a_broken_line_is_named(row: str, tmp_path: Path) -> None:
    with pytest.raises(VerdictError, match=r"^verdicts\.tsv:3: "):
        read(table(tmp_path, ROW.format(line=1, level="HIGH", verdict="true"), row))


def test_a_page_without_a_place_is_left_alone() -> None:
    with pytest.raises(VerdictError):
        page("# Agreement\n", "| |")


def test_the_committed_page_holds_the_committed_table() -> None:
    text = verdicts.PAGE.read_text(encoding="utf-8")
    assert page(text, report(read(verdicts.TABLE))) == text, "run 'python scripts/verdicts.py --write'"


def test_the_committed_table_judges_rules_that_there_are() -> None:
    judged = read(verdicts.TABLE)
    assert {verdict.symbol for verdict in judged} <= {rule.symbol for rule in all_rules()}
    assert len({verdict[:5] for verdict in judged}) == len(judged)
