"""Programs after public reports, explained beside the raw counters of torch_xla.

A line of theirs says which rule its row names (`# rule: xla-value-read`), and why something was compiled again there,
with the rule in brackets (`# because: input 4 is f32[4,6] []`). All other lines have neither.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.runtime.running import Ran, command

FOLDER = Path(__file__).parent / "reported"
PROGRAMS = sorted(path for path in FOLDER.glob("*.py") if path.stem != "common")
RULE, BECAUSE = re.compile(r"# rule: (\S+)"), re.compile(r"# because: (.*?) \[(\S*)\]")


def cases(path: Path) -> dict[str, range]:
    """The lines of each function."""
    lines = path.read_text().splitlines()
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("def ")]
    ends = [*starts[1:], len(lines) + 1]
    return {
        lines[start - 1].removeprefix("def ").partition("(")[0]: range(start, end)
        for start, end in zip(starts, ends, strict=True)
    }


CASES = [(path, name) for path in PROGRAMS for name in cases(path)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Ran]:
    return {path: command(tmp_path_factory.mktemp(path.stem), str(path)) for path in PROGRAMS}


@pytest.mark.parametrize(("path", "name"), CASES, ids=[name for _, name in CASES])
def test_a_report(path: Path, name: str, runs: dict[Path, Ran]) -> None:
    ran, lines = runs[path], cases(path)[name]
    here = [(number, path.read_text().splitlines()[number - 1]) for number in lines]
    rows = [row for row in ran.report["rows"] if row["line"] in lines and row["file"] == str(path)]
    assert {row["line"]: row["rule"] for row in rows if row["rule"]} == {
        number: match.group(1) for number, text in here if (match := RULE.search(text))
    }
    wanted = [(number, *found) for number, text in here for found in BECAUSE.findall(text)]
    reasons = [each for each in ran.report["reasons"] if each["line"] in lines and each["file"] == str(path)]
    assert len(reasons) == len(wanted), reasons
    for number, words, rule in wanted:
        assert any(
            each["line"] == number and words in each["words"] and each["rule"] == rule and each["explained"]
            for each in reasons
        ), (words, reasons)


@pytest.mark.parametrize(("path", "name"), CASES, ids=[name for _, name in CASES])
def test_the_rows_are_what_torch_xla_counted(path: Path, name: str, runs: dict[Path, Ran]) -> None:
    ran, lines = runs[path], cases(path)[name]
    raw = next(line.split()[1:] for line in re.split(r"[\r\n]", ran.out) if line.startswith(f"{name} "))
    total: Counter[str] = Counter()
    for row in ran.report["rows"]:
        if row["line"] in lines and row["file"] == str(path):
            total.update({key: row[key] for key in ("compiles", "executions", "reads")})
    assert [total["compiles"], total["executions"], total["reads"]] == [int(number) for number in raw]
