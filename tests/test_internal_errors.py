"""An error inside the engine ends the analysis of one function, and is told; all else is still found."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests.doors import pylint
from xla_lint import engine, failures
from xla_lint.cli.main import main
from xla_lint.engine import Settings
from xla_lint.failures import Checked
from xla_lint.program.library import registry
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse
from xla_lint.rules.reads.value_read import ValueRead

HEAD = """\
import contextlib
import torch
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(2, 2).to(device)
"""
STEP = """\
def train(loader, optimizer):
    for x in loader:
        loss = model(x.to(device)).sum()
        {call}
        loss.backward()
        optimizer.step()
        print(loss.item())
        torch_xla.sync()
"""
UNCUT = """\
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train():
    for _ in range(9):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 2, device=device)).sum()
        {call}
        loss.backward()
        optimizer.step()
"""
FAILING = "torch.kaiser_window"
READ = "xla-value-read"


@pytest.fixture(params=[ValueError("two\nlines"), RecursionError(), MemoryError()], ids=lambda e: type(e).__name__)
def error(request: pytest.FixtureRequest) -> Iterator[Exception]:
    """Let the meaning of one library function fail."""

    def fail(*_: object) -> NoReturn:
        raise request.param

    registry.FUNCTIONS.register(FAILING, fail)
    yield request.param
    registry.FUNCTIONS.remove(FAILING)


def checked(source: str, path: str = "train.py") -> Checked:
    return failures.check(parse(HEAD + textwrap.dedent(source), path), Project(), Settings())


def symbols(found: Checked) -> list[str]:
    return [finding.rule.symbol for finding in found.findings]


@pytest.mark.usefixtures("error")
class TestContained:
    def test_a_function_that_is_called(self) -> None:
        found = checked(f"def window():\n    return {FAILING}(3)\n" + STEP.format(call="window()"))
        assert READ in symbols(found)
        assert [failure.line for failure in found.failures] == [6]

    def test_what_held_where_it_failed_holds_no_more(self) -> None:
        """An error in the branch of one replica would leave a rendezvous behind it to that replica alone."""
        meeting = "import torch_xla.core.xla_model as xm\nxm.rendezvous('end')\n"
        for branch in (
            f"if xm.get_ordinal() == 0:\n    {FAILING}(3)\n",
            f"if xm.get_ordinal() != 0:\n    pass\nelse:\n    {FAILING}(3)\n",
        ):
            found = checked("import torch_xla.core.xla_model as xm\n" + branch + meeting)
            assert found.failures
            assert "xla-rank-divergence" not in symbols(found)

    def test_a_function_without_a_caller(self) -> None:
        found = checked(STEP.format(call="pass") + f"def window():\n    for _ in range(3):\n        {FAILING}(3)\n")
        assert READ in symbols(found)
        assert [failure.line for failure in found.failures] == [14]

    def test_what_an_interrupted_loop_lacks_is_not_missed(self) -> None:
        assert "xla-missing-sync" in symbols(checked(UNCUT.format(call="pass")))
        found = checked(UNCUT.format(call=f"{FAILING}(3)"))
        assert symbols(found) == []
        assert len(found.failures) == 1

    def test_the_callers_loop_may_have_had_its_barrier_there(self) -> None:
        source = f"def window():\n    {FAILING}(3)\n" + UNCUT.format(call="window()")
        assert symbols(checked(source)) == []

    def test_a_method(self) -> None:
        found = checked(
            f"""
            class Meter:
                def __init__(self):
                    self.window = {FAILING}(3)
                def update(self, loss):
                    self.last = loss
            meter = Meter()
            def train(loader):
                for x in loader:
                    loss = model(x.to(device)).sum()
                    meter.update(loss)
                    loss.backward()
                    print(loss.item())
                    torch_xla.sync()
            """
        )
        assert READ in symbols(found)
        assert [failure.line for failure in found.failures] == [8]

    @pytest.mark.parametrize(
        "body",
        [
            f"yield {FAILING}(3)",
            f"callback = lambda: {FAILING}(3)\n    yield callback()",
            f"for _ in range(2):\n        with torch.no_grad():\n            yield [{FAILING}(n) for n in range(3)]",
        ],
    )
    def test_a_generator(self, body: str) -> None:
        found = checked(f"def windows():\n    {body}\n" + STEP.format(call="list(windows())"))
        assert READ in symbols(found)
        assert found.failures

    def test_a_context_manager(self) -> None:
        manager = f"@contextlib.contextmanager\ndef timed():\n    {FAILING}(3)\n    yield\n"
        found = checked(manager + STEP.format(call="pass").replace("for x", "with timed():\n     for x"))
        assert READ in symbols(found)
        assert len(found.failures) == 1

    def test_the_body_of_a_with_statement_is_its_own_functions(self) -> None:
        manager = "@contextlib.contextmanager\ndef timed():\n    yield\n"
        found = checked(
            manager + f"def window():\n    with timed():\n        {FAILING}(3)\n" + STEP.format(call="pass")
        )
        assert READ in symbols(found)
        assert [failure.line for failure in found.failures] == [9]

    def test_a_callback_inside_a_loop(self) -> None:
        source = f"import other\ndef window(x):\n    {FAILING}(3)\n" + STEP.format(call="other.call(window)")
        found = checked(source)
        assert READ in symbols(found)
        assert [failure.line for failure in found.failures] == [7]

    def test_the_top_level(self) -> None:
        found = checked(f"for _ in range(3):\n    window = {FAILING}(3)\nx = 1\n" + STEP.format(call="pass"))
        assert READ in symbols(found)
        assert [failure.line for failure in found.failures] == [6]

    def test_the_body_of_a_class(self) -> None:
        source = textwrap.indent(STEP.format(call="pass").replace("(loader", "(self, loader"), "    ")
        found = checked(f"class Trainer:\n    window = {FAILING}(3)\n{source}")
        assert READ in symbols(found)
        assert [failure.line for failure in found.failures] == [7]

    def test_what_the_failed_code_changed_may_have_happened_or_not(self) -> None:
        found = checked(
            f"""
            class Holder:
                def __init__(self):
                    self.model = None
                def fill(self):
                    self.model = model
                    {FAILING}(3)
            holder = Holder()
            def train(loader):
                holder.fill()
                for x in loader:
                    loss = holder.model(x.to(device)).sum()
                    loss.backward()
                    print(loss.item())
                    torch_xla.sync()
            """
        )
        assert READ in symbols(found)


class TestOutsideTheProgram:
    def test_a_rule(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> NoReturn:
            raise KeyError("missing")

        monkeypatch.setattr(ValueRead, "check", fail)
        source = (
            STEP.format(call="pass")
            + "def old(optimizer):\n    import torch_xla.core.xla_model as xm\n    xm.mark_step()\n"
        )
        found = checked(source)
        assert symbols(found) == ["xla-deprecated-api"]
        assert {failure.line for failure in found.failures} == {12}

    def test_what_is_read_from_the_module_as_a_whole(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> NoReturn:
            raise KeyError("missing")

        monkeypatch.setattr("xla_lint.program.interpreter.programs.api_uses", fail)
        found = checked(STEP.format(call="pass"))
        assert READ in symbols(found)
        assert [failure.line for failure in found.failures] == [None]


@pytest.mark.usefixtures("error")
class TestAcrossFiles:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "setup.py").touch()
        (tmp_path / "windows.py").write_text(f"import torch\nwidth = {FAILING}(3)\ndef window():\n    {FAILING}(3)\n")
        (tmp_path / "train.py").write_text("from windows import window\n" + HEAD + STEP.format(call="window()"))
        return tmp_path

    def test_the_other_file_is_named(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Project.forget()
        assert main(["check", str(folder / "train.py")]) == 2
        output = capsys.readouterr()
        assert READ in output.out
        places = [line.split(": ")[1] for line in output.err.splitlines()[:-1]]
        assert places == [f"{folder / 'windows.py'}:{line}" for line in (2, 3)]

    def test_each_error_is_told_once(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Project.forget()
        assert main(["check", str(folder)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 3


class TestDoors:
    def source(self) -> str:
        return HEAD + f"def window():\n    return {FAILING}(3)\n" + STEP.format(call="window()")

    def test_the_line_that_the_user_reads(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], error: Exception
    ) -> None:
        path = tmp_path / "train.py"
        path.write_text(self.source())
        assert main(["check", str(path)]) == 2
        output = capsys.readouterr()
        assert READ in output.out
        line, _ = output.err.splitlines()
        if isinstance(error, RecursionError):
            assert line == f"xla-lint: {path}:6: the code is nested too deeply to be analysed"
        else:
            what = type(error).__name__ + (": two lines" if str(error) else "")
            assert line.startswith(f"xla-lint: {path}:6: internal error in xla-lint 0.1.0, in 'window': {what} (")
            assert line.endswith(
                "the rest of this code was not analysed; please report this line together with the file"
            )

    @pytest.mark.usefixtures("error")
    def test_by_the_plugin(self, tmp_path: Path) -> None:
        path = tmp_path / "train.py"
        path.write_text(self.source())
        fatal, *rest = pylint(path)
        assert fatal.symbol == "fatal"
        assert fatal.msg.startswith(f"{path}:6: ")
        assert READ in [message.symbol for message in rest]

    def test_who_asks_for_no_faults_gets_the_first(self, error: Exception) -> None:
        with pytest.raises(type(error)):
            engine.check_module(parse(self.source(), "train.py"), Project(), Settings())
