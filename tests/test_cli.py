"""The command `xla-lint`."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

import xla_lint
from tests.doors import TRAIN
from tests.stand_in import Call
from xla_lint import engine
from xla_lint.cli import progress
from xla_lint.cli.formats.github import command
from xla_lint.cli.formats.text import excerpt, folded, heading, plain
from xla_lint.cli.main import main
from xla_lint.cli.parser import FORMATS, SCOPES
from xla_lint.cli.results import Located
from xla_lint.engine import Settings, default_symbols
from xla_lint.pages import page
from xla_lint.places import Extent
from xla_lint.program.project.scope import Scope, Version
from xla_lint.rules import all_rules, rule_named

ROOT = Path(__file__).parent.parent
Captured = pytest.CaptureFixture[str]
OUTSIDE = "print('no program')\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a script that has two findings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def python(script: str, *arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def found(capsys: Captured) -> list[tuple[str, int, str]]:
    document = json.loads(capsys.readouterr().out)
    return [(finding["path"], finding["line"], finding["symbol"]) for finding in document["findings"]]


@pytest.mark.usefixtures("calls")
class TestReports:
    def test_text(self, folder: Path, capsys: Captured) -> None:
        assert main(["check", "."]) == 1
        output = capsys.readouterr()
        message = rule_named("xla-value-read").message
        lines = output.out.splitlines()
        assert len(lines) == 6
        assert lines[0].startswith("train.py:4:14: W9701 xla-value-read ")
        assert message.partition("%")[0] in lines[0]
        assert lines[1:3] == ["        total += loss.item()", "                 ^^^^^^^^^^^"]
        assert output.err == "2 findings in 1 file (1 file checked)\n"

    def test_json(self, folder: Path, capsys: Captured) -> None:
        (folder / "other.py").write_text(OUTSIDE)
        (folder / "broken.py").write_text("import torch_xla\nx = = 1\n")
        assert main(["check", ".", "--format=json"]) == 2
        document = json.loads(capsys.readouterr().out)
        first = document["findings"][0]
        assert first.pop("message")
        assert first == {
            "path": "train.py",
            "line": 4,
            "column": 14,
            "end_line": 4,
            "end_column": 25,
            "code": "W9701",
            "symbol": "xla-value-read",
            "severity": "warning",
            "confidence": "HIGH",
            "cell": None,
            "page": "xla-lint explain xla-value-read",
            "evidence": [],
            "fixes": [],
        }
        del document["findings"]
        assert document == {
            "version": 1,
            "problems": [{"path": "broken.py", "line": 2, "message": "syntax error: invalid syntax", "cell": None}],
            "files": {
                "checked": 3,
                "outside_scope": 1,
                "accelerate_only": 0,
                "sagemaker_only": 0,
                "training_outside_scope": [],
            },
        }

    def test_github(self, folder: Path, capsys: Captured) -> None:
        odd = folder / "odd, 100%:.py"
        odd.write_text('import torch_xla\nx["a\\n%"].item()\n')
        (folder / "broken.py").write_text("import torch_xla\nx = = 1\n")
        assert main(["check", "odd, 100%:.py", "broken.py", "--format=github"]) == 2
        finding, problem = capsys.readouterr().out.splitlines()
        head, _, message = finding.partition("::")[2].partition("::")
        assert head == "warning file=odd%2C 100%25%3A.py,line=2,endLine=2,col=1,endColumn=17,title=W9701 xla-value-read"
        assert "a\\n%25" in message
        assert problem == "::error file=broken.py,line=2,title=xla-lint::syntax error: invalid syntax"

    def test_github_escapes_line_ends(self) -> None:
        assert command("error", {"file": "a\r\nb"}, "c\r\nd") == "::error file=a%0D%0Ab::c%0D%0Ad"

    def test_nothing_found(self, folder: Path, capsys: Captured) -> None:
        (folder / "train.py").write_text(OUTSIDE)
        assert main(["check", "."]) == 0
        assert capsys.readouterr() == ("", "no findings (1 file checked, 1 of them outside the XLA scope)\n")

    def test_a_marked_file_may_yet_be_outside(self, folder: Path, capsys: Captured) -> None:
        (folder / "train.py").write_text("# torch_xla is not used here\n")
        assert main(["check", "."]) == 0
        assert "1 of them outside" in capsys.readouterr().err

    @pytest.mark.parametrize(("variable", "coloured"), [("FORCE_COLOR", True), ("NO_COLOR", False), ("X", False)])
    def test_colours(
        self, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, variable: str, coloured: bool
    ) -> None:
        for name in ("FORCE_COLOR", "NO_COLOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(variable, "1")
        monkeypatch.setenv("TERM", "xterm")
        main(["check", "."])
        assert ("\x1b[" in capsys.readouterr().out) is coloured


class TestText:
    def finding(self, source: str, place: Extent, message: str = "It stalls.") -> Located:
        return Located("a b.py", place, "W9701", "xla-value-read", "warning", "HIGH", message, source)

    @pytest.mark.parametrize(
        ("source", "place", "marked"),
        [
            ("x.item()", Extent(1, 1, 1, 9), "x.item()"),
            ("x = y.item()  # why", Extent(1, 5, 1, 13), "y.item()"),
            ("for x in y:", Extent(1, 1, 4, 3), "for x in y:"),
            ("\tif x:", Extent(1, 5, 1, 6), "x"),
            ("print('损失', x)", Extent(1, 13, 1, 14), "x"),
            ("\x1b[2Jx.item()", Extent(1, 5, 1, 13), "x.item()"),
        ],
    )
    def test_carets_stand_below_the_finding(self, source: str, place: Extent, marked: str) -> None:
        line, carets = plain(excerpt(self.finding(source, place))).split("\n")
        start = line.index(marked, place.column - 1 + 4)
        assert carets == " " * cell_len(line[:start]) + "^" * cell_len(marked)
        assert line.isprintable()

    def test_one_name_of_an_old_api_takes_one_line(self) -> None:
        old = [
            Located(
                "a.py", Extent(line, 1, line, 2), "E9763", "xla-removed-api", "error", "HIGH", "'xm.f' is gone", "f"
            )
            for line in (3, 5, 9)
        ]
        other = old[0]._replace(message="'xm.g' is gone")
        elsewhere, read = old[0]._replace(path="b.py"), self.finding("x", Extent(1, 1, 1, 2))
        more = read._replace(message="It stalls twice.")
        lines = folded([read, old[0], other, more, *old[1:], elsewhere])
        assert [(first, len(others)) for first, others in lines] == [
            (read, 0),
            (old[0], 2),
            (other, 0),
            (more, 0),
            (elsewhere, 0),
        ]
        assert plain(heading(*[(first, 0, others) for first, others in lines][1])).endswith(
            "is gone (also on lines 5, 9)"
        )

    def test_a_message_is_folded_with_an_indent(self) -> None:
        lines = plain(heading(self.finding("x", Extent(1, 1, 1, 2), "word " * 30), 60)).splitlines()
        assert len(lines) > 3
        assert all(len(line) <= 60 for line in lines)
        assert all(line.startswith("    word") for line in lines[1:])

    def test_no_message_moves_the_cursor(self) -> None:
        assert plain(heading(self.finding("x", Extent(1, 1, 1, 2), "a\x1b[2J\nb"), 0)).endswith(" a [2J b")


def test_columns_count_characters(calls: list[Call], folder: Path, capsys: Captured) -> None:
    (folder / "train.py").write_text("import torch_xla\nprint('é', loss.item(), 'é')\n", encoding="utf-8")
    main(["check", ".", "--format=json"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["column"], finding["end_column"]) == (12, 23)
    assert len(calls) == 1


@pytest.mark.usefixtures("calls")
class TestFiles:
    def test_a_tree(self, folder: Path, capsys: Captured) -> None:
        for name in ("b/z.py", "a/y.py", "a.py"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(TRAIN)
        for name in (".git", ".tox", "venv", "__pycache__", "node_modules", "build", "site-packages", ".hidden"):
            (folder / "a" / name).mkdir()
            (folder / "a" / name / "x.py").write_text(TRAIN)
        (folder / ".#a.py").write_text(TRAIN)
        (folder / "notes.txt").write_text(TRAIN)
        main(["check", "b", ".", "a.py", "--format=json"])
        files = [path for path, line, _ in found(capsys) if line == 4]
        assert files == [str(Path("b", "z.py")), "a.py", "train.py", str(Path("a", "y.py"))]

    def test_a_folder_named_outright_is_walked(self, folder: Path, capsys: Captured) -> None:
        (folder / "build").mkdir()
        (folder / "build" / "x.py").write_text(TRAIN)
        main(["check", "build", "--format=json"])
        assert len(found(capsys)) == 2

    def test_a_file_without_a_suffix(self, folder: Path, capsys: Captured) -> None:
        (folder / "script").write_text(TRAIN)
        main(["check", "script", "--format=json"])
        assert len(found(capsys)) == 2

    @pytest.mark.parametrize(
        ("options", "name"), [([], "<stdin>"), (["--stdin-filename=src/train.py"], "src/train.py")]
    )
    def test_standard_input(
        self, folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, options: list[str], name: str
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TRAIN.encode())))
        assert main(["check", "-", "--format=json", *options]) == 1
        assert [path for path, *_ in found(capsys)] == [name, name]


class TestChoice:
    def settings(self, calls: list[Call], *options: str) -> Settings:
        main(["check", "train.py", *options])
        return calls[-1][2]

    def configure(self, folder: Path, *lines: str) -> None:
        (folder / "pyproject.toml").write_text("\n".join(["[tool.xla-lint]", *lines]))

    @pytest.mark.usefixtures("folder")
    def test_on_the_command_line(self, calls: list[Call]) -> None:
        assert self.settings(calls) == Settings(Scope.AUTO, None)
        options = ("--xla-scope=all", "--xla-target-version=2.5")
        assert self.settings(calls, *options) == Settings(Scope.ALL, Version(2, 5))

    def test_in_pyproject(self, calls: list[Call], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.configure(folder, 'scope = "all"', 'target-version = "2.5"')
        assert self.settings(calls) == Settings(Scope.ALL, Version(2, 5))
        options = ("--xla-scope=auto", "--xla-target-version=2.6")
        assert self.settings(calls, *options) == Settings(Scope.AUTO, Version(2, 6))
        (folder / "inner").mkdir()
        (folder / "inner" / "pyproject.toml").write_text("[project]\nname = 'inner'\n")
        monkeypatch.chdir(folder / "inner")
        main(["check", "../train.py", "--no-cache"])
        assert calls[-1][2] == Settings(Scope.ALL, Version(2, 5))

    @pytest.mark.usefixtures("calls")
    @pytest.mark.parametrize(
        ("options", "lines"),
        [
            ([], [4, 5]),
            (["--disable=xla-value-read"], []),
            (["--disable", "W9701"], []),
            (["--enable=xla-redundant-sync"], [4, 5, 6]),
            (["--enable=all"], [4, 5, 6]),
            (["--disable=all", "--enable=xla-redundant-sync"], [6]),
            (["--enable=xla-redundant-sync", "--disable=all"], [6]),
            (["--enable=xla-print-tensor,xla-redundant-sync", "--disable=xla-value-read"], [6]),
            (["--disable=xla-value-read", "--enable=xla-value-read"], [4, 5]),
        ],
    )
    def test_switches(self, folder: Path, capsys: Captured, options: list[str], lines: list[int]) -> None:
        (folder / "train.py").write_text(TRAIN + "torch_xla.sync()\n")
        main(["check", "train.py", "--format=json", *options])
        assert [line for _, line, _ in found(capsys)] == lines

    @pytest.mark.usefixtures("calls")
    def test_switches_in_pyproject(self, folder: Path, capsys: Captured) -> None:
        (folder / "train.py").write_text(TRAIN + "torch_xla.sync()\n")
        self.configure(folder, 'disable = ["all"]', 'enable = ["xla-redundant-sync"]')
        main(["check", "train.py", "--format=json"])
        assert [line for _, line, _ in found(capsys)] == [6]
        main(["check", "train.py", "--format=json", "--enable=xla-value-read", "--disable=xla-redundant-sync"])
        assert [line for _, line, _ in found(capsys)] == [4, 5]

    def test_a_configuration_that_is_no_table(self, folder: Path, capsys: Captured) -> None:
        (folder / "pyproject.toml").write_text("tool.xla-lint = 3\n")
        assert main(["check", "train.py"]) == 2
        assert "tool.xla-lint must be a table" in capsys.readouterr().err

    def test_a_table_of_tools_that_is_none(self, folder: Path, capsys: Captured) -> None:
        (folder / "pyproject.toml").write_text("tool = 1\n")
        assert main(["check", "train.py"]) == 0
        assert "error" not in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("scop = 'all'", "unknown key 'scop'; did you mean scope"),
            ("scope = 'some'", "'scope' must be 'auto' or 'all', not 'some'"),
            ("scope = 1", "'scope' must be a string"),
            ("target-version = 2.5", "'target-version' must be a string"),
            ("target-version = 'new'", "'new' is no torch_xla version; write it like 2.9"),
            ("enable = 'xla-value-read'", "'enable' must be a list of strings, not a string"),
            ("disable = [1]", "'disable' must "),
            (
                "disable = ['xla-valu-read']",
                "'xla-valu-read' is no rule, family, severity or level of confidence; did you",
            ),
            ("scope = ", "cannot be read: "),
        ],
    )
    def test_a_bad_configuration(self, folder: Path, capsys: Captured, line: str, problem: str) -> None:
        self.configure(folder, line)
        assert main(["check", "train.py"]) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.startswith(f"xla-lint: error: {folder / 'pyproject.toml'}")
        assert problem in output.err
        assert output.err.count("\n") == 1

    @pytest.mark.usefixtures("folder")
    @pytest.mark.parametrize(
        ("option", "problem"),
        [
            ("--xla-target-version=x", "argument --xla-target-version: 'x' is no torch_xla version"),
            (
                "--enable=xla-valu-read",
                "'xla-valu-read' is no rule, family, severity or level of confidence; did you mean",
            ),
            (
                "--disable=nonsense",
                "'nonsense' is no rule, family, severity or level of confidence; 'xla",
            ),
            ("--disable=all", "every rule is disabled"),
        ],
    )
    def test_a_bad_option(self, capsys: Captured, option: str, problem: str) -> None:
        assert main(["check", "train.py", option]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"xla-lint: error: {problem}")
        assert error.count("\n") == 1

    @pytest.mark.parametrize("option", ["--nonsense", "--format=xml", "--xla-scope=some"])
    def test_an_unknown_option(self, capsys: Captured, option: str) -> None:
        with pytest.raises(SystemExit) as stop:
            main(["check", "train.py", option])
        assert stop.value.code == 2
        assert option.partition("=")[0] in capsys.readouterr().err.splitlines()[-1]

    def test_the_names_on_the_command_line_are_those_of_the_engine(self) -> None:
        assert [scope.value for scope in Scope] == list(SCOPES)
        assert all((ROOT / "xla_lint" / "cli" / "formats" / f"{name}.py").is_file() for name in FORMATS)


class TestExplain:
    def test_a_page(self, capsys: Captured) -> None:
        rule = rule_named("xla-value-read")
        assert main(["explain", rule.symbol]) == 0
        assert capsys.readouterr().out == page(rule) + "\n"
        assert main(["explain", rule.code()]) == 0
        assert capsys.readouterr().out == page(rule) + "\n"

    def test_on_a_terminal(self, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        main(["explain", "xla-value-read"])
        shown = capsys.readouterr().out
        assert "What it does" in shown
        assert "## What it does" not in shown

    def test_the_list(self, capsys: Captured) -> None:
        assert main(["explain"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split(":")[0] for line in lines] == [f"{rule.code()} {rule.symbol}" for rule in all_rules()]

    def test_an_unknown_symbol(self, capsys: Captured) -> None:
        assert main(["explain", "xla-print-tensors"]) == 2
        error = capsys.readouterr().err
        assert error.startswith("xla-lint: error: there is no rule 'xla-print-tensors'; did you mean xla-print-tensor")
        assert error.count("\n") == 1

    def test_a_page_that_cannot_be_read(self, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(_: object) -> str:
            raise FileNotFoundError("fixtures")

        monkeypatch.setattr("xla_lint.cli.explain.page", missing)
        assert main(["explain", "xla-value-read"]) == 2
        assert capsys.readouterr().err == "xla-lint: error: the page of xla-value-read cannot be read: fixtures\n"


class TestEnds:
    def test_an_internal_error(self, calls: list[Call], folder: Path, capsys: Captured) -> None:
        (folder / "crash.py").write_text(TRAIN)
        assert main(["check", "crash.py", "train.py", "--format=json"]) == 2
        output = capsys.readouterr()
        assert len(json.loads(output.out)["findings"]) == 2
        problem, summary = output.err.splitlines()
        assert problem.startswith("xla-lint: crash.py: internal error in xla-lint")
        assert problem.endswith("please report this line together with the file")
        assert summary == "2 findings in 1 file (2 files checked, 1 problem)"
        assert len(calls) == 2

    @pytest.mark.usefixtures("folder")
    def test_interrupted(self, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(engine, "examine", interrupt)
        assert main(["check", "."]) == 130
        assert capsys.readouterr().err == "xla-lint: interrupted\n"

    def test_a_reader_that_goes_away(self) -> None:
        script = "import os, sys; from xla_lint.cli.main import main; r, w = os.pipe(); os.close(r)"
        done = python(f"{script}; os.dup2(w, 1); sys.exit(main(['explain']))")
        assert (done.returncode, done.stderr) == (141, "")

    def test_a_terminal_without_the_characters(self, folder: Path) -> None:
        (folder / "train.py").write_text("import torch_xla\nprint('é', loss.item())\n", encoding="utf-8")
        script = "import sys; from tests import stand_in; stand_in.register(None); import xla_lint.cli.main as m; "
        done = subprocess.run(
            [sys.executable, "-c", script + "sys.exit(m.main(['check', '.']))"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        assert "print('\\xe9', loss.item())" in done.stdout

    @pytest.mark.usefixtures("calls", "folder")
    def test_a_slow_check_shows_its_progress(self, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TERM", "xterm")
        main(["check", "."])
        assert "checking" not in capsys.readouterr().err
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        main(["check", "."])
        assert "checking" not in capsys.readouterr().err
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        main(["check", ".", "--format=json"])
        output = capsys.readouterr()
        assert "checking" in output.err
        assert len(json.loads(output.out)["findings"]) == 2


class TestStart:
    def test_no_command(self, capsys: Captured) -> None:
        assert main([]) == 2
        assert "explain" in capsys.readouterr().err

    def test_version(self) -> None:
        script = "import sys; from xla_lint.cli.main import main\ntry: main(['--version'])\n"
        script += "finally: assert not {'astroid', 'pylint', 'rich', 'xla_lint.engine'} & set(sys.modules)"
        assert python(script).stdout == f"xla-lint {xla_lint.__version__}\n"

    def test_as_a_module(self, folder: Path) -> None:
        done = python("import runpy; runpy.run_module('xla_lint', run_name='__main__')", "explain", folder=folder)
        assert done.stdout.count("\n") == len(all_rules())

    def test_a_check_loads_no_more_than_it_needs(self, folder: Path) -> None:
        script = "import sys; from xla_lint.cli.main import main; main(['check', '.'])\n"
        script += "spared = {'pylint.lint', 'rich', 'libcst', 'pathspec', 'multiprocessing', 'subprocess', 'difflib'}\n"
        script += "sys.exit(' '.join(spared & set(sys.modules)) or 0)"
        assert python(script, folder=folder).returncode == 0

    def test_defaults_leave_advice_out(self) -> None:
        assert "xla-value-read" in default_symbols()
        assert "xla-redundant-sync" not in default_symbols()
