"""Which findings are reported and which fail the check: by options, by tables, by paths."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.doors import TRAIN
from xla_lint.cli.main import main

Captured = pytest.CaptureFixture[str]
SOURCE = TRAIN + "torch_xla.sync()\n"
"""Line 4: a value read, HIGH. Line 5: another, INFERENCE. Line 6: advice about a barrier."""

pytestmark = pytest.mark.usefixtures("calls", "folder")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a script and a test of the same text."""
    monkeypatch.chdir(tmp_path)
    for name in ("train.py", "tests/test_train.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(SOURCE)
    return tmp_path


def lines(capsys: Captured, *arguments: str) -> list[int]:
    main(["check", "train.py", "--format=json", *arguments])
    return [finding["line"] for finding in json.loads(capsys.readouterr().out)["findings"]]


def paths(capsys: Captured, *arguments: str) -> set[str]:
    main(["check", ".", "--format=json", *arguments])
    return {finding["path"] for finding in json.loads(capsys.readouterr().out)["findings"]}


def configure(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text)


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--select=xla-value-read"], [4, 5]),
        (["--select=W9701"], [4, 5]),
        (["--select=reads"], [4, 5]),
        (["--select=barriers"], [6]),
        (["--select=warning"], [4, 5]),
        (["--select=W"], [4, 5]),
        (["--select=advice"], [6]),
        (["--select=reads,advice"], [4, 5, 6]),
        (["--select=all"], [4, 5, 6]),
        (["--select=HIGH"], [4]),
        (["--select=high"], [4]),
        (["--select=INFERENCE,HIGH"], [4, 5]),
        (["--select=all", "--ignore=INFERENCE"], [4, 6]),
        (["--select=all,HIGH"], [4, 6]),
        (["--select=error"], []),
        (["--ignore=reads"], []),
        (["--ignore=warning", "--enable=barriers"], [6]),
        (["--select=all", "--ignore=advice"], [4, 5]),
        (["--select=reads", "--select=barriers"], [4, 5, 6]),
    ],
)
def test_findings_are_chosen_by_what_they_are(capsys: Captured, options: list[str], left: list[int]) -> None:
    assert lines(capsys, *options) == left


@pytest.mark.parametrize(
    ("table", "options", "left"),
    [
        ('select = ["barriers"]', [], [6]),
        ('select = ["HIGH"]', [], [4]),
        ('ignore = ["INFERENCE"]', [], [4]),
        ('ignore = ["reads"]', ["--select=reads"], [4, 5]),
        ('select = ["reads"]', ["--enable=advice"], [4, 5, 6]),
        ('select = ["barriers"]', ["--select=HIGH"], [6]),
        ('select = ["all"]', ["--ignore=reads"], [6]),
        ('ignore = ["reads"]\nenable = ["advice"]', [], [6]),
    ],
)
def test_the_command_line_wins_over_the_table(
    folder: Path, capsys: Captured, table: str, options: list[str], left: list[int]
) -> None:
    configure(folder, f"[tool.xla-lint]\n{table}\n")
    assert lines(capsys, *options) == left


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], 1),
        (["--fail-on=error"], 0),
        (["--fail-on=E"], 0),
        (["--fail-on=E,W"], 1),
        (["--fail-on=xla-value-read"], 1),
        (["--fail-on=shapes"], 0),
        (["--fail-on=HIGH"], 1),
        (["--fail-on=CONTROL_FLOW"], 0),
        (["--select=INFERENCE", "--fail-on=HIGH"], 0),
        (["--exit-zero"], 0),
        (["--exit-zero", "--fail-on=reads"], 0),
    ],
)
def test_what_fails_the_check(capsys: Captured, options: list[str], status: int) -> None:
    assert main(["check", "train.py", *options]) == status
    assert "xla-value-read" in capsys.readouterr().out


def test_what_fails_the_check_by_table(folder: Path) -> None:
    configure(folder, '[tool.xla-lint]\nfail-on = ["error"]\n')
    assert main(["check", "train.py"]) == 0
    assert main(["check", "train.py", "--fail-on=warning"]) == 1


def test_a_problem_is_no_finding(folder: Path) -> None:
    (folder / "train.py").unlink()
    assert main(["check", "train.py", "--exit-zero"]) == 2


class TestPaths:
    @pytest.mark.parametrize("pattern", ["tests", "tests/", "/tests", "test_*.py", "tests/**", "**/test_train.py"])
    @pytest.mark.parametrize("by", ["option", "table"])
    def test_paths_are_left_out(self, folder: Path, capsys: Captured, pattern: str, by: str) -> None:
        options = [f"--exclude={pattern}"] if by == "option" else []
        if by == "table":
            configure(folder, f'[tool.xla-lint]\nexclude = ["{pattern}"]\n')
        main(["check", ".", "--format=json", *options])
        output = capsys.readouterr()
        assert {finding["path"] for finding in json.loads(output.out)["findings"]} == {"train.py"}
        assert "1 file checked, 1 excluded" in output.err

    def test_a_named_file_that_is_left_out_is_told(self, capsys: Captured) -> None:
        assert main(["check", "train.py", "--exclude=train.py"]) == 0
        assert capsys.readouterr().err.startswith("xla-lint: train.py: skipped, --exclude excludes it\n")

    @pytest.mark.parametrize("by", ["option", "table"])
    def test_standard_input_is_left_out_like_the_file(
        self, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, by: str
    ) -> None:
        if by == "table":
            configure(folder, '[tool.xla-lint]\nexclude = ["tests"]\n')
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SOURCE.encode())))
        options = ["--exclude=tests"] if by == "option" else []
        assert main(["check", "-", "--stdin-filename=tests/test_train.py", *options]) == 0
        assert capsys.readouterr().err.startswith("xla-lint: tests/test_train.py: skipped, ")

    def test_a_pattern_is_seen_from_the_folder_of_the_table(
        self, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configure(folder, '[tool.xla-lint]\nexclude = ["/train.py"]\n')
        monkeypatch.chdir(folder / "tests")
        assert main(["check", "../train.py", "test_train.py"]) == 1
        assert "../train.py: skipped" in capsys.readouterr().err

    def test_paths_may_have_wishes_of_their_own(self, folder: Path, capsys: Captured) -> None:
        configure(
            folder,
            '[tool.xla-lint]\nselect = ["reads"]\n[tool.xla-lint.per-path."tests/"]\nignore = ["reads"]\n'
            'enable = ["advice"]\n[tool.xla-lint.per-path."nothing/"]\nselect = ["error"]\n',
        )
        main(["check", ".", "--format=json"])
        found = {(f["path"], f["line"]) for f in json.loads(capsys.readouterr().out)["findings"]}
        assert found == {("train.py", 4), ("train.py", 5), (str(Path("tests", "test_train.py")), 6)}

    def test_a_release_may_be_said_for_some_paths(
        self, folder: Path, calls: list[tuple[object, object, object]]
    ) -> None:
        configure(
            folder,
            '[tool.xla-lint]\nscope = "all"\n[tool.xla-lint.per-path."tests/"]\ntarget-version = "2.5"\n',
        )
        main(["check", "."])
        settings = [str(call[2]) for call in calls]
        assert len(settings) == 2
        assert all("Scope.ALL" in each for each in settings)
        assert sum("minor=5" in each for each in settings) == 1

    def test_each_file_has_the_table_of_its_own_project(
        self, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("one", "two", "two/inner"):
            (folder / name).mkdir()
            (folder / name / "train.py").write_text(SOURCE)
        (folder / "one" / "pyproject.toml").write_text('[tool.xla-lint]\nselect = ["error"]\n')
        (folder / "two" / "pyproject.toml").write_text('[tool.xla-lint]\nselect = ["advice"]\n')
        (folder / "two" / "inner" / "pyproject.toml").write_text("[project]\nname = 'inner'\n")
        monkeypatch.chdir(folder / "tests")
        main(["check", "../one", "../two", "--format=json"])
        found = [(f["path"], f["line"]) for f in json.loads(capsys.readouterr().out)["findings"]]
        assert found == [("../two/train.py", 6), ("../two/inner/train.py", 6)]


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("[tool]\nxla-lint = 3\n", ": tool.xla-lint must be a table"),
            ("[tool.xla_lint]\n", ": [tool.xla_lint] is read by nothing; did you mean [tool.xla-lint]?"),
            ("[tool.XLAlint]\n", ": [tool.XLAlint] is read by nothing; did you mean [tool.xla-lint]?"),
            ("[tool.xla-lint]\nselcet = []\n", ": [tool.xla-lint]: unknown key 'selcet'; did you mean select?"),
            (
                "[tool.xla-lint]\nfoo = []\n",
                ": [tool.xla-lint]: unknown key 'foo'; there are scope, target, target-version, ",
            ),
            (
                "[tool.xla-lint]\nexclude = 'a'\n",
                "[tool.xla-lint]: 'exclude' must be a list of strings, not a string",
            ),
            ("[tool.xla-lint]\nbaseline = []\n", ": [tool.xla-lint]: 'baseline' must be a string, not a list"),
            ("[tool.xla-lint]\nexclude = ['a', 1]\n", "'exclude' must hold strings alone, not a number"),
            ("[tool.xla-lint]\nselect = []\n", "'select' must name something; leave it out to have what is usual"),
            ("[tool.xla-lint.per-path.'a/']\nselect = []\n", "'select' must name something"),
            ("[tool.xla-lint]\nfail-on = []\n", "'fail-on' must name something"),
            ("[tool.xla-lint]\ntarget = 2026-01-01\n", "'target' must be a string, not a time"),
            ("[tool.xla-lint]\nscope = true\n", ": [tool.xla-lint]: 'scope' must be a string, not a boolean"),
            (
                "[tool.xla-lint]\nfail-on = ['eror']\n",
                ": [tool.xla-lint]: 'eror' is no rule, family, severity or level of confidence; did you mean error?",
            ),
            ("[tool.xla-lint]\nper-path = 1\n", ": [tool.xla-lint]: 'per-path' must hold tables, such as "),
            ("[tool.xla-lint.per-path]\n'a' = 1\n", ': [tool.xla-lint.per-path."a"] must be a table'),
            (
                "[tool.xla-lint.per-path.'a/']\nexclude = []\n",
                ": [tool.xla-lint.per-path.\"a/\"]: unknown key 'exclude'; there are scope, ",
            ),
            ("[tool.xla-lint]\nselect = ['all']\ndisable = ['all']\n", "every rule is disabled"),
            ("[tool.xla-lint]\nignore = ['HIGH', 'CONTROL_FLOW', 'INFERENCE']\n", "every level of confidence is"),
            ("[tool.xla-lint]\nexclude = ['!']\n", "no pattern for paths: "),
            ("x = \n", " cannot be read: "),
        ],
    )
    def test_a_mistake_takes_one_line(self, folder: Path, capsys: Captured, text: str, problem: str) -> None:
        configure(folder, text)
        assert main(["check", "train.py"]) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.startswith("xla-lint: error: ")
        assert problem in output.err
        assert output.err.count("\n") == 1

    def test_lists_that_name_nothing_leave_nothing_out(self, folder: Path, capsys: Captured) -> None:
        configure(folder, "[tool.xla-lint]\nignore = []\nexclude = []\nenable = []\n")
        assert lines(capsys) == [4, 5]

    def test_a_folder_is_no_configuration(self, folder: Path, capsys: Captured) -> None:
        (folder / "pyproject.toml").mkdir()
        assert main(["check", "train.py"]) == 2
        assert capsys.readouterr().err.endswith("pyproject.toml cannot be read: is a directory\n")

    @pytest.mark.parametrize(
        ("option", "problem"),
        [
            ("--jobs=two", "argument -j/--jobs: 'two' is no number from 0 on"),
            ("-j-3", "argument -j/--jobs: '-3' is no number from 0 on"),
            ("", "argument PATH: a path is empty; name the current folder by ."),
            ("--stdin-filename=", "argument --stdin-filename: a name is empty; leave the option out for text"),
            ("--select=", "argument --select: nothing is named; leave the option out to have what is usual"),
            ("--fail-on=,", "argument --fail-on: nothing is named"),
        ],
    )
    def test_a_bad_value_names_the_option(self, capsys: Captured, option: str, problem: str) -> None:
        with pytest.raises(SystemExit) as stop:
            main(["check", "train.py", option])
        assert stop.value.code == 2
        usage, last = capsys.readouterr().err.splitlines()
        assert usage == "usage: xla-lint check [OPTION ...] PATH ..."
        assert last.startswith(f"xla-lint check: error: {problem}")

    def test_a_name_for_standard_input_that_is_not_checked(self, capsys: Captured) -> None:
        assert main(["check", "train.py", "--stdin-filename=train.py"]) == 2
        assert capsys.readouterr().err.startswith("xla-lint: error: --stdin-filename names what standard input holds")


class TestOutput:
    def test_quiet(self, capsys: Captured) -> None:
        assert main(["check", "train.py", "tests", "--quiet", "--exclude=tests"]) == 1
        output = capsys.readouterr()
        assert "xla-value-read" in output.out
        assert output.err == ""
        assert main(["check", "missing.py", "-q"]) == 2
        assert capsys.readouterr().err.startswith("xla-lint: missing.py: cannot be read")

    def test_a_file_of_its_own(self, folder: Path, capsys: Captured) -> None:
        assert main(["check", "train.py", "--format=json", "--output-file=found.json"]) == 1
        assert capsys.readouterr().out == ""
        assert len(json.loads((folder / "found.json").read_text())["findings"]) == 2

    def test_a_file_that_cannot_be_written(self, capsys: Captured) -> None:
        assert main(["check", "train.py", "--output-file=missing/found.txt"]) == 2
        error = capsys.readouterr().err
        assert error == "xla-lint: error: missing/found.txt cannot be written: no such file or directory\n"
