"""Findings that are accepted stay known while their lines move; what is new, and what is fixed, is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors import TRAIN
from xla_lint.cli.main import main

Captured = pytest.CaptureFixture[str]
FILE = "accepted.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The current folder: two scripts, whose findings are accepted."""
    request.getfixturevalue("calls")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "other.py").write_text(TRAIN)
    assert main(["check", ".", f"--baseline={FILE}", "--write-baseline"]) == 0
    return tmp_path


def check(capsys: Captured, *arguments: str) -> tuple[int, list[tuple[str, int]], str]:
    capsys.readouterr()
    status = main(["check", *(arguments or (".",)), f"--baseline={FILE}", "--format=json"])
    output = capsys.readouterr()
    found = [(finding["path"], finding["line"]) for finding in json.loads(output.out)["findings"]]
    return status, found, output.err


@pytest.mark.usefixtures("folder")
def test_what_is_accepted_is_not_reported(capsys: Captured) -> None:
    status, found, told = check(capsys)
    assert (status, found) == (0, [])
    assert told == "no findings (2 files checked, 4 in the baseline)\n"


@pytest.mark.parametrize("before", ["\n\n\n", "# a comment\nx = 1\n"])
def test_lines_may_move(folder: Path, capsys: Captured, before: str) -> None:
    (folder / "train.py").write_text(TRAIN.replace("\nfor", f"{before}\nfor"))
    assert check(capsys)[:2] == (0, [])


def test_a_line_may_be_indented_further(folder: Path, capsys: Captured) -> None:
    (folder / "train.py").write_text(TRAIN.replace("    ", "        "))
    assert check(capsys)[:2] == (0, [])


def test_another_of_the_same_is_new(folder: Path, capsys: Captured) -> None:
    (folder / "train.py").write_text(TRAIN + "    total += loss.item()\n")
    assert check(capsys)[:2] == (1, [("train.py", 6)])


def test_the_same_in_another_file_is_new(folder: Path, capsys: Captured) -> None:
    (folder / "third.py").write_text(TRAIN)
    assert check(capsys)[:2] == (1, [("third.py", 4), ("third.py", 5)])


def test_what_is_fixed_is_told(folder: Path, capsys: Captured) -> None:
    (folder / "train.py").write_text(TRAIN.replace("loss.item()", "loss"))
    (folder / "other.py").unlink()
    status, found, told = check(capsys)
    assert (status, found) == (0, [])
    assert told.startswith(f"xla-lint: 3 accepted findings of {FILE} fixed: xla-value-read in other.py (")
    assert "xla-value-read in train.py (total += loss.item())" in told
    assert told.splitlines()[0].endswith("; --write-baseline takes them out")
    main(["check", ".", f"--baseline={FILE}", "--write-baseline"])
    assert check(capsys)[2] == "no findings (1 file checked, 1 in the baseline)\n"


@pytest.mark.usefixtures("folder")
def test_files_that_are_not_checked_count_neither_as_fixed_nor_as_gone(capsys: Captured) -> None:
    assert "fixed" not in check(capsys, "train.py")[2]
    main(["check", "train.py", f"--baseline={FILE}", "--write-baseline"])
    assert capsys.readouterr().err == f"{FILE} accepts 4 findings\n"
    assert check(capsys)[:2] == (0, [])


def test_a_file_that_cannot_be_parsed_keeps_what_is_accepted(folder: Path, capsys: Captured) -> None:
    (folder / "train.py").write_text("x = = 1\nimport torch_xla\n")
    assert main(["check", ".", f"--baseline={FILE}", "--write-baseline"]) == 2
    (folder / "train.py").write_text(TRAIN)
    assert check(capsys)[:2] == (0, [])


def test_a_table_names_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pyproject.toml").write_text(f'[tool.xla-lint]\nbaseline = "{FILE}"\n')
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert main(["check", ".."]) == 0
    (folder / "train.py").write_text(TRAIN + "    print(x.item())\n")
    assert main(["check", "../train.py"]) == 1
    assert main(["check", "../train.py", "--write-baseline"]) == 0
    assert main(["check", ".."]) == 0


def test_it_reads_well_and_does_not_depend_on_the_machine(folder: Path) -> None:
    document = json.loads((folder / FILE).read_text())
    assert document["findings"][0] == {
        "path": "other.py",
        "symbol": "xla-value-read",
        "text": "history.extend(losses.tolist())",
        "count": 1,
    }
    assert str(folder) not in (folder / FILE).read_text()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, f"{FILE} cannot be read: no such file or directory; --write-baseline writes it"),
        ("[]", f"{FILE} is no baseline of xla-lint"),
        ("{", f"{FILE} is no baseline of xla-lint"),
        ('{"version": 7}', f"{FILE} was written by another version of xla-lint"),
    ],
)
def test_a_bad_file(folder: Path, capsys: Captured, text: str | None, problem: str) -> None:
    (folder / FILE).unlink()
    if text is not None:
        (folder / FILE).write_text(text)
    capsys.readouterr()
    assert main(["check", ".", f"--baseline={FILE}"]) == 2
    assert capsys.readouterr().err == f"xla-lint: error: {problem}\n"


@pytest.mark.usefixtures("folder")
def test_writing_needs_a_name(capsys: Captured) -> None:
    assert main(["check", ".", "--write-baseline"]) == 2
    assert "--write-baseline needs --baseline FILE, or 'baseline' in [tool.xla-lint]" in capsys.readouterr().err


ROW = {"path": "train.py", "symbol": "xla-value-read", "text": "x", "count": 1}


@pytest.mark.parametrize(
    "findings",
    [
        {},
        [{**ROW, "path": None}],
        [{**ROW, "path": ["train.py"]}],
        [{**ROW, "symbol": {}}],
        [{**ROW, "text": 5}],
        [{**ROW, "count": 1e300}],
        [{**ROW, "count": True}],
    ],
)
def test_a_broken_baseline_is_told_in_one_line(folder: Path, capsys: Captured, findings: object) -> None:
    (folder / FILE).write_text(json.dumps({"version": 1, "findings": findings}))
    assert main(["check", ".", f"--baseline={FILE}"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"xla-lint: error: {FILE} is no baseline of xla-lint"


def test_a_baseline_nested_without_end(folder: Path, capsys: Captured) -> None:
    (folder / FILE).write_text("[" * 100_000)
    assert main(["check", ".", f"--baseline={FILE}"]) == 2
    assert f"{FILE} is no baseline of xla-lint" in capsys.readouterr().err


def test_a_baseline_that_cannot_be_written_stays_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (folder / FILE).read_text()
    (folder / "train.py").write_text(TRAIN + "    total += loss.item()\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copymode", full)
    assert main(["check", ".", f"--baseline={FILE}", "--write-baseline"]) == 2
    assert (folder / FILE).read_text() == before
    assert sorted(path.name for path in folder.iterdir()) == sorted([FILE, "other.py", "train.py"])
