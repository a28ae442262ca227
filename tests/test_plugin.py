"""The plugin, as pylint runs it."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pylint.lint import PyLinter, Run

import xla_lint
from tests.doors import ONLY_XLA, TRAIN, pylint
from tests.stand_in import Call
from xla_lint.pages import address
from xla_lint.plugin import XlaChecker
from xla_lint.program.interpreter.collector_pause import RARELY, collect_rarely
from xla_lint.program.project.scope import Scope, Version
from xla_lint.rules import all_rules, rule_named
from xla_lint.rules.base import Rule, Severity

ROOT = Path(__file__).parent.parent
QUIET = ("--persistent=n", "--score=n", *ONLY_XLA)
FATAL, WARNING = 1, 4
"""pylint's exit status is a sum of these."""


@pytest.fixture
def train(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    return path


def subprocess_pylint(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """pylint in a process of its own, where the stand-in is a plugin."""
    return subprocess.run(
        [sys.executable, "-m", "pylint", "--load-plugins=xla_lint,tests.stand_in", *QUIET, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )


def symbols(path: Path, *options: str, messages: tuple[str, ...] = ONLY_XLA) -> list[str]:
    return [message.symbol for message in pylint(path, *options, messages=messages)]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.symbol)
def test_every_rule_is_a_message(rule: type[Rule]) -> None:
    linter = PyLinter()
    xla_lint.register(linter)
    (definition,) = linter.msgs_store.get_message_definitions(rule.symbol)
    assert (definition.msgid, definition.msg, definition.checker_name) == (
        rule.code(),
        rule.message + "%(via)s",
        "xla-lint",
    )
    assert definition.description.startswith(rule.page().splitlines()[0])
    assert definition.description.endswith(address(rule))
    assert "#" not in definition.description.partition("More:")[0]
    assert linter.is_message_enabled(rule.symbol) is (rule.severity is not Severity.ADVICE)


def test_a_finding_becomes_a_message(calls: list[Call], train: Path) -> None:
    first, second = pylint(train)
    assert (first.msg_id, first.symbol, first.category) == ("W9701", "xla-value-read", "warning")
    assert (first.line, first.column, first.end_line, first.end_column) == (4, 13, 4, 24)
    assert first.msg == rule_named("xla-value-read").message % dict.fromkeys(_fields("xla-value-read"), "loss.item()")
    assert (first.confidence.name, second.confidence.name) == ("HIGH", "INFERENCE")
    ((module, project, settings),) = calls
    assert Path(module.file) == train
    assert project.root is not None
    assert (settings.scope, settings.target) == (Scope.AUTO, None)


def _fields(symbol: str) -> set[str]:
    class Names(dict[str, str]):
        def __missing__(self, key: str) -> str:
            self[key] = ""
            return ""

    names = Names()
    assert rule_named(symbol).message % names
    return set(names)


@pytest.mark.usefixtures("calls")
class TestSelection:
    def test_one_symbol(self, train: Path) -> None:
        assert symbols(train, messages=("--disable=all", "--enable=xla-value-read")) == ["xla-value-read"] * 2
        assert symbols(train, messages=("--disable=all", "--enable=xla-print-tensor")) == []

    def test_confidence(self, train: Path) -> None:
        assert [message.line for message in pylint(train, "--confidence=HIGH")] == [4]

    def test_advice_is_off_by_default(self, tmp_path: Path) -> None:
        path = tmp_path / "train.py"
        path.write_text("import torch_xla\ntorch_xla.sync()\n")
        everything_else = ("--disable=C,R,W,E",)
        assert symbols(path, messages=everything_else) == []
        assert symbols(path, messages=(*everything_else, "--enable=xla-redundant-sync")) == ["xla-redundant-sync"]

    def test_a_useless_pragma_is_reported_by_pylint(self, tmp_path: Path) -> None:
        path = tmp_path / "train.py"
        path.write_text("import torch_xla\nloss.mean()  # pylint: disable=xla-value-read\n")
        messages = (*ONLY_XLA, "--enable=useless-suppression")
        assert symbols(path, messages=messages) == ["useless-suppression"]


class TestOptions:
    def check(self, calls: list[Call], train: Path, *options: str) -> tuple[Scope, Version | None]:
        pylint(train, *options)
        settings = calls[-1][2]
        return settings.scope, settings.target

    def test_on_the_command_line(self, calls: list[Call], train: Path) -> None:
        chosen = self.check(calls, train, "--xla-scope=all", "--xla-target-version=2.5")
        assert chosen == (Scope.ALL, Version(2, 5))

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("pyproject.toml", '[tool.pylint.xla-lint]\nxla-scope = "all"\nxla-target-version = "2.5.1"\n'),
            (".pylintrc", "[XLA-LINT]\nxla-scope=all\nxla-target-version=2.5.1\n"),
        ],
    )
    def test_in_a_file(self, calls: list[Call], train: Path, name: str, text: str) -> None:
        config = train.parent / name
        config.write_text(text)
        assert self.check(calls, train, f"--rcfile={config}") == (Scope.ALL, Version(2, 5))

    def test_a_bad_version_is_wrong_usage(self, train: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stop:
            pylint(train, "--xla-target-version=newest")
        assert stop.value.code == 32
        assert capsys.readouterr().err == (
            "pylint: error: argument --xla-target-version: 'newest' is no torch_xla version; write it like 2.9\n"
        )

    def test_a_bad_version_in_a_file_stops_every_job(self, train: Path) -> None:
        config = train.parent / ".pylintrc"
        config.write_text("[MAIN]\nxla-target-version=x\n")
        done = subprocess_pylint("-j2", f"--rcfile={config}", train, train)
        assert done.returncode == 32
        assert len(done.stderr.splitlines()) == 1

    def test_a_bad_scope(self, train: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            pylint(train, "--xla-scope=some")
        assert "argument --xla-scope: invalid choice: 'some'" in capsys.readouterr().err


@pytest.mark.usefixtures("calls")
class TestOutput:
    def run(self, path: Path, capsys: pytest.CaptureFixture[str], output: str) -> str:
        Run(["--load-plugins=xla_lint", f"--output-format={output}", *QUIET, str(path)], exit=False)
        return capsys.readouterr().out

    def test_text(self, train: Path, capsys: pytest.CaptureFixture[str]) -> None:
        _, first, second = self.run(train, capsys, "text").splitlines()
        assert first.startswith(f"{train}:4:13: W9701: ")
        assert first.endswith("(xla-value-read)")
        assert second.startswith(f"{train}:5:19: W9701: ")

    def test_json2(self, train: Path, capsys: pytest.CaptureFixture[str]) -> None:
        first, second = json.loads(self.run(train, capsys, "json2"))["messages"]
        assert (first["symbol"], first["line"], first["endColumn"]) == ("xla-value-read", 4, 24)
        assert second["confidence"] == "INFERENCE"

    def test_github(self, train: Path, capsys: pytest.CaptureFixture[str]) -> None:
        _, first, _ = self.run(train, capsys, "github").splitlines()
        assert first.startswith(f"::warning file={train},line=4,endline=4,col=13,title=W9701::")


class TestInternalErrors:
    REPORT = "internal error in xla-lint"

    def test_one_message_and_the_other_files(self, calls: list[Call], train: Path) -> None:
        crash = train.with_name("crash.py")
        crash.write_text(TRAIN)
        fatal, *rest = pylint(crash, train)
        assert (fatal.symbol, Path(fatal.abspath)) == ("fatal", crash)
        assert re.fullmatch(
            f"{re.escape(str(crash))}: internal error in xla-lint {re.escape(xla_lint.__version__)}: "
            r"ValueError: an error of two lines \(failures.py, line \d+\); "
            "nothing of this file was analysed; please report this line together with the file",
            fatal.msg,
        )
        assert [message.symbol for message in rest] == ["xla-value-read"] * 2
        assert len(calls) == 2

    def test_several_jobs(self, train: Path) -> None:
        crash = train.with_name("crash.py")
        crash.write_text(TRAIN)
        done = subprocess_pylint("-j2", crash, train)
        assert done.stdout.count(self.REPORT) == 1
        assert done.stdout.count("(xla-value-read)") == 2
        assert "Traceback" not in done.stdout + done.stderr
        assert done.returncode == FATAL | WARNING


def test_several_jobs(train: Path) -> None:
    other = train.with_name("other.py")
    other.write_text(TRAIN + "torch_xla.sync()\n")
    done = subprocess_pylint("-j2", "--enable=xla-redundant-sync", train, other)
    assert done.returncode == WARNING, done.stderr
    found = [tuple(line.split(":")[:2]) for line in done.stdout.splitlines() if not line.startswith("*")]
    assert found == [(str(train), "4"), (str(train), "5"), (str(other), "4"), (str(other), "5"), (str(other), "6")]


def test_standard_input(tmp_path: Path) -> None:
    done = subprocess_pylint("--from-stdin", tmp_path / "train.py", stdin=TRAIN)
    assert done.returncode == WARNING, done.stderr
    assert f"{tmp_path / 'train.py'}:4:13: W9701" in done.stdout


def test_importing_the_package_is_cheap() -> None:
    script = "import sys, xla_lint; sys.exit(bool({'pylint', 'astroid', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def test_collections_are_rare_until_the_run_ends(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, during = gc.get_threshold(), []
    monkeypatch.setattr(XlaChecker, "visit_module", lambda *_: during.append(gc.get_threshold()))
    pylint(train)
    assert during == [RARELY]
    assert gc.get_threshold() == before


def test_a_collector_that_is_switched_off_stays_so() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        collect_rarely()
        assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
