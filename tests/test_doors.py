"""What goes on around the command: how paths are written, signals, full disks, what it says of mistakes."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.doors import HELPER, SCRIPT, pylint
from xla_lint.cli import one, store_file
from xla_lint.cli.main import main

ROOT = Path(__file__).parent.parent
COMMAND = (sys.executable, "-m", "xla_lint", "check")

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A script, and the helper in which it reads a pending tensor."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in (("train.py", SCRIPT), ("helper.py", HELPER), ("requirements.txt", "")):
        (folder / name).write_text(text)
    return folder


def found(capsys: Captured, *arguments: str) -> list[tuple[str, int, str]]:
    capsys.readouterr()
    main(["check", "--format=json", *arguments])
    return [(f["path"], f["line"], f["symbol"]) for f in json.loads(capsys.readouterr().out)["findings"]]


class TestPaths:
    @pytest.mark.parametrize("written", ["../project", "../other/../project", "./../project/.", "../project/helper.py"])
    def test_dots_lead_to_the_same_findings(
        self, project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, written: str
    ) -> None:
        (project.parent / "other").mkdir()
        monkeypatch.chdir(project.parent / "other")
        ((path, line, symbol),) = found(capsys, written)
        assert (Path(path).resolve(), line, symbol) == (project / "helper.py", 2, "xla-value-read")
        assert path.startswith("..")


def run(*arguments: str | Path, folder: Path, shell: str = "") -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", *command] if shell else command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


class TestNames:
    def test_a_message_says_which_of_two_files_of_a_name(self, tmp_path: Path, capsys: Captured) -> None:
        for folder, value in (("first", "0.0"), ("second", "loss")):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "train.py").write_text(
                SCRIPT.replace("from helper", "from lib.helper").replace("note(total, loss)", f"note({value}, {value})")
            )
        (tmp_path / "lib").mkdir()
        (tmp_path / "lib" / "helper.py").write_text(HELPER)
        (tmp_path / "pyproject.toml").touch()
        main(["check", str(tmp_path), "--format=json"])
        (finding,) = json.loads(capsys.readouterr().out)["findings"]
        for part in (
            "computed on line 10 of second/train.py",
            "of line 9 of second/train.py",
            "program second/train.py",
        ):
            assert part in finding["message"]
        assert "first" not in finding["message"]

    @pytest.mark.parametrize("line", ["# ä\n", "name = 'ä'; ", "n = '\N{GRINNING FACE}'; "])
    def test_pylint_counts_characters_too(self, project: Path, capsys: Captured, line: str) -> None:
        (project / "helper.py").write_text(
            f"def note(total, value):\n    {line}    ".rstrip(" ")
            + ("    " if line.endswith("\n") else " ")
            + "return total + value.item()\n",
            encoding="utf-8",
        )
        (message,) = pylint(project / "helper.py")
        main(["check", str(project / "helper.py"), "--format=json"])
        (finding,) = json.loads(capsys.readouterr().out)["findings"]
        text = (project / "helper.py").read_text(encoding="utf-8").splitlines()[message.line - 1]
        assert text[message.column : message.end_column] == "value.item()"
        assert (message.line, message.column + 1) == (finding["line"], finding["column"])
        assert (message.end_line, (message.end_column or 0) + 1) == (finding["end_line"], finding["end_column"])


class TestBuffers:
    @pytest.fixture
    def typed(self, project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> object:
        """Check what stands in a buffer: the lines and symbols that are found, and what is said."""
        monkeypatch.chdir(project)

        def check(name: str, text: str, *more: str) -> tuple[list[tuple[str, int, str]], str]:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            main(["check", "-", *more, f"--stdin-filename={name}", "--format=json"])
            output = capsys.readouterr()
            return [(f["path"], f["line"], f["symbol"]) for f in json.loads(output.out)["findings"]], output.err

        return check

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            (HELPER, 2),
            (HELPER + "# a comment", 2),
            ("\n" + HELPER, 3),
            (HELPER + "\n\ndef more(x):\n    return x.", 2),
            ("import os\nfrom\n" + HELPER, 4),
            (HELPER.replace(":\n", ":\n    print(\n"), 3),
        ],
    )
    def test_what_importers_show_stays(self, typed: object, text: str, line: int) -> None:
        found, _ = typed("helper.py", text)  # type: ignore[operator]
        assert found == [("helper.py", line, "xla-value-read")]

    def test_other_files_see_the_buffer(self, typed: object) -> None:
        assert typed("train.py", SCRIPT.replace("note(total, loss)", "0.0"), "helper.py")[0] == []  # type: ignore[operator]
        assert typed("train.py", SCRIPT, "helper.py")[0] == [("helper.py", 2, "xla-value-read")]  # type: ignore[operator]
        half = SCRIPT + "    loss = model("
        assert typed("train.py", half, "helper.py")[0] == [("helper.py", 2, "xla-value-read")]  # type: ignore[operator]

    def test_a_file_that_is_not_saved_yet(self, typed: object, project: Path) -> None:
        (project / "helper.py").unlink()
        found, _ = typed("helper.py", HELPER)  # type: ignore[operator]
        assert found == [("helper.py", 2, "xla-value-read")]

    def test_the_mistake_is_told_too(self, typed: object) -> None:
        _, told = typed("helper.py", HELPER + "x = = 1\n")  # type: ignore[operator]
        assert told.splitlines()[0] == "xla-lint: helper.py:3: syntax error: invalid syntax"


class TestSignals:
    def test_termination_ends_all_processes_and_keeps_what_is_known(self, tmp_path: Path) -> None:
        for number in range(40):
            (tmp_path / f"train{number}.py").write_text(
                SCRIPT.replace("from helper import note", "def note(a, b): return b")
            )
        script = (
            "import sys, time; from pathlib import Path\n"
            "from xla_lint.cli import many; from xla_lint.cli.main import main\n"
            "def slow(path, *rest):\n"
            "    Path(path).with_suffix('.begun').touch(); time.sleep(60); return before(path, *rest)\n"
            "before, many.check_one = many.check_one, slow\n"
            "sys.exit(main(['check', '.', '-j2', '--cache-dir=kept']))\n"
        )
        begun = subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("*.begun"))) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        begun.send_signal(signal.SIGTERM)
        _, errors = begun.communicate(timeout=30)
        assert (begun.returncode, errors) == (143, "xla-lint: terminated\n")
        with pytest.raises(ProcessLookupError):
            os.killpg(begun.pid, 0)
        assert list((tmp_path / "kept").glob("*.json"))

    def test_workers_end_with_a_process_that_is_killed(self, tmp_path: Path) -> None:
        script = (
            "import time; from xla_lint.cli import processes\n"
            "with processes._pool(2) as pool:\n"
            "    for each in range(2): pool.submit(time.sleep, 60)\n"
            "    print('begun', flush=True); time.sleep(60)\n"
        )
        begun = subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert begun.stdout is not None
        assert begun.stdout.readline() == "begun\n"
        time.sleep(0.5)
        begun.kill()
        begun.wait()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                os.killpg(begun.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
        os.killpg(begun.pid, signal.SIGKILL)
        pytest.fail("a worker is left")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
class TestFullDisk:
    @pytest.mark.parametrize("form", ["text", "json", "sarif"])
    def test_it_is_no_finding(self, project: Path, form: str) -> None:
        done = run("helper.py", "--format", form, folder=project, shell="> /dev/full")
        assert done.returncode == 2
        assert done.stderr == "xla-lint: error: standard output cannot be written: no space left on device\n"

    def test_a_file_of_its_own(self, project: Path) -> None:
        done = run("helper.py", "--output-file=/dev/full", folder=project)
        assert done.returncode == 2
        assert done.stderr == "xla-lint: error: /dev/full cannot be written: no space left on device\n"


class TestLimits:
    def test_the_size_of_a_package_is_none(self, project: Path, capsys: Captured) -> None:
        (project / "mine" / "sub").mkdir(parents=True)
        for name in ("__init__", "sub/__init__", *(f"sub/m{number}" for number in range(70))):
            (project / "mine" / f"{name}.py").write_text("x = 1\n")
        (project / "helper.py").rename(project / "mine" / "helper.py")
        (project / "train.py").write_text(SCRIPT.replace("from helper", "from mine.helper"))
        ((path, line, symbol),) = found(capsys, str(project))
        assert (Path(path).name, line, symbol) == ("helper.py", 2, "xla-value-read")

    def test_a_tree_that_is_too_large_for_one_project_is_told(
        self, project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("xla_lint.program.project.project.MOST_FILES", 1)
        assert main(["check", str(project)]) == 0
        note = capsys.readouterr().err.splitlines()[0]
        assert note.startswith(
            f"xla-lint: {project} holds more than 1 Python files, so its files were checked one by one"
        )


class TestMistakes:
    @pytest.mark.parametrize(("name", "shown"), [("train.py", "train.py"), ("no such.py", "'no such.py'"), (".", ".")])
    def test_a_path_without_a_command(
        self, project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, name: str, shown: str
    ) -> None:
        monkeypatch.chdir(project)
        with pytest.raises(SystemExit) as stop:
            main([name])
        assert stop.value.code == 2
        last = capsys.readouterr().err.splitlines()[-1]
        assert last == f"xla-lint: error: '{name}' is no command; to check it: xla-lint check {shown}"

    def test_a_command_is_none_whatever_lies_there(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(project)
        (project / "check").mkdir()
        assert main(["check", "train.py"]) == 0


class TestCache:
    @pytest.fixture
    def analysed(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        names: list[str] = []
        before = one.check_one

        def noted(path: str, *rest: object) -> object:
            names.append(Path(path).name)
            return before(path, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr("xla_lint.cli.many.check_one", noted)
        return names

    def check(self, folder: Path) -> None:
        main(["check", str(folder), f"--cache-dir={folder.parent / 'kept'}"])

    def test_a_fresh_checkout_is_known(self, project: Path, analysed: list[str]) -> None:
        self.check(project)
        assert analysed == ["helper.py", "train.py"]
        shutil.copytree(project, project.parent / "copy", copy_function=shutil.copyfile)
        shutil.rmtree(project)
        (project.parent / "copy").rename(project)
        self.check(project)
        assert len(analysed) == 2
        (project / "train.py").write_text(SCRIPT.replace("note(total, loss)", "0.0"))
        self.check(project)
        assert len(analysed) == 4

    def test_summaries_outlive_a_fresh_checkout(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.check(project)
        os.utime(project / "train.py", (1, 1))
        monkeypatch.setattr("xla_lint.program.project.project.stated_in", lambda *_: pytest.fail("looked at again"))
        self.check(project)

    def test_the_same_xla_lint_installed_anew_knows_it(
        self, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fingerprint(package: Path) -> str:
            store_file._fingerprint.cache_clear()
            monkeypatch.setattr(store_file, "PACKAGE", package)
            return store_file._fingerprint(tmp_path / "kept")

        here = fingerprint(ROOT / "xla_lint")
        elsewhere = tmp_path / "elsewhere" / "xla_lint"
        shutil.copytree(ROOT / "xla_lint", elsewhere, copy_function=shutil.copyfile)
        assert fingerprint(elsewhere) == here
        assert fingerprint(elsewhere) == here
        with (elsewhere / "engine.py").open("a") as file:
            file.write("# another one\n")
        assert fingerprint(elsewhere) != here
        store_file._fingerprint.cache_clear()
