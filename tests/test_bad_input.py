"""What is no ordinary Python file: one clear line for it, and the other files are still checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from astroid import MANAGER

from tests.conftest import Door
from tests.doors import TRAIN, pylint
from tests.stand_in import Call
from xla_lint import engine
from xla_lint.cli.main import main
from xla_lint.program.project.source import SourceError, decode, module_name, parse, read

HEAD = b"import torch_xla\n"
READ = "xla-value-read"
DEPTH = 500
Captured = pytest.CaptureFixture[str]
DEEP = {
    "sum": "x = " + " + ".join(["a"] * DEPTH),
    "minus": "x = " + "-" * DEPTH + "a",
    "attributes": "x = a" + ".b" * DEPTH,
    "calls": "x = a" + "()" * DEPTH,
    "elif": "if a:\n    pass\n" + "elif b:\n    pass\n" * DEPTH,
    "ternary": "x = " + "a if b else " * DEPTH + "c",
    "lambda": "x = " + "lambda: " * DEPTH + "0",
}


@pytest.mark.usefixtures("calls")
class TestUnusualButRight:
    """Both doors find the read on the last line."""

    @pytest.mark.parametrize(
        "source",
        [
            HEAD + b"\nloss.item()",
            b"\xef\xbb\xbf" + HEAD + b"\nloss.item()\n",
            b"\xef\xbb\xbf# coding: utf-8\n" + HEAD + b"loss.item()\n",
            b"# -*- coding: latin-1 -*-\n" + HEAD + b"loss.item()  # caf\xe9\n",
            b"#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :\n" + HEAD + b"loss.item('\xa4')\n",
            (HEAD + b"\n\x0c\nloss.item()\n").replace(b"\n", b"\r\n"),
            HEAD + b"s = '\xe2\x80\xa8'\n\x0closs.item()\n",
        ],
    )
    def test_is_read_like_any_other(self, door: Door, tmp_path: Path, source: bytes) -> None:
        path = tmp_path / "train.py"
        path.write_bytes(source)
        last = len(source.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n"))
        assert door(path) == [(last, READ)]

    @pytest.mark.parametrize("source", [b"", b"\n", b"\xef\xbb\xbf", b"# only a comment about torch_xla", b"\x0c"])
    def test_empty(self, door: Door, tmp_path: Path, source: bytes) -> None:
        path = tmp_path / "empty.py"
        path.write_bytes(source)
        assert door(path, "--xla-scope=all") == []

    def test_twenty_thousand_lines(self, door: Door, tmp_path: Path) -> None:
        path = tmp_path / "long.py"
        path.write_bytes(HEAD + b"x = f(y)\n" * 19_998 + b"loss.item()\n")
        assert door(path) == [(20_000, READ)]


class TestDepth:
    @pytest.mark.parametrize("kind", DEEP)
    def test_deep_code_is_checked(self, tmp_path: Path, capsys: Captured, calls: list[Call], kind: str) -> None:
        limit = sys.getrecursionlimit()
        path = tmp_path / "deep.py"
        path.write_text("import torch_xla\n" + DEEP[kind] + "\nloss.item()\n")
        assert main(["check", str(path)]) == 1
        assert capsys.readouterr().err == "1 finding in 1 file (1 file checked)\n"
        assert len(calls) == 1
        assert sys.getrecursionlimit() == limit

    @pytest.mark.parametrize("kind", DEEP)
    def test_the_engine_copes_or_says_so(self, tmp_path: Path, capsys: Captured, kind: str) -> None:
        path = tmp_path / "deep.py"
        path.write_text("import torch_xla\n" + DEEP[kind] + "\n")
        status = main(["check", str(path)])
        error = capsys.readouterr().err
        if status == 2:
            assert f"xla-lint: {path}:2: the code is nested too deeply to be analysed\n" in error
        else:
            assert status == 0

    @pytest.mark.parametrize(
        "line",
        [
            "x = " + " + ".join(["a"] * 50_000),
            "x = " + "lambda: " * 5_000 + "0",
            "x = " + "(" * DEPTH + ")" * DEPTH,
            "\n".join(" " * depth + "if a:" for depth in range(DEPTH)) + "\n" + " " * DEPTH + "pass",
        ],
        ids=["sum", "lambda", "brackets", "blocks"],
    )
    def test_deeper_code_is_one_line(self, tmp_path: Path, capsys: Captured, line: str) -> None:
        path = tmp_path / "deep.py"
        path.write_text("import torch_xla\n" + line + "\n")
        assert main(["check", str(path)]) == 2
        problem, _ = capsys.readouterr().err.splitlines()
        assert problem.startswith(f"xla-lint: {path}:")
        assert "too deeply" in problem or "too many" in problem

    def test_the_plugin_says_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def endless(*arguments: object, **_: object) -> None:
            endless(*arguments)

        monkeypatch.setattr(engine, "examine", endless)
        path = tmp_path / "train.py"
        path.write_text(TRAIN)
        (message,) = pylint(path)
        assert (message.symbol, message.msg) == ("fatal", f"{path}: the code is nested too deeply to be analysed")


@pytest.mark.usefixtures("calls")
class TestUnreadable:
    CASES = (
        (HEAD + b"def f(:\n", 2, "syntax error: invalid syntax"),
        (HEAD + b"print 'Python 2'\n", 2, "syntax error: Missing parentheses in call to 'print'"),
        (HEAD + b"exec 'x'\n", 2, "syntax error: Missing parentheses in call to 'exec'"),
        (HEAD + b"if x:\n\ty\n        z\n", 4, "syntax error: inconsistent use of tabs"),
        (HEAD + b"x = (\n", 2, "syntax error: '(' was never closed"),
        (HEAD + b"x = 1\0\n", 2, "holds a null byte, so it is no Python source"),
        (HEAD + b"# caf\xe9\n", 2, "byte 0xe9 is not utf-8, and no coding line names another encoding"),
        (b"# caf\xe9\n" + HEAD, 1, "byte 0xe9 is not utf-8, and no coding line names another encoding"),
        (b"# coding: ascii\n" + HEAD + b"# caf\xe9\n", 3, "byte 0xe9 is not ascii"),
        (b"\xef\xbb\xbf" + HEAD + b"\n# caf\xe9\n", 3, "byte 0xe9 is not utf-8-sig"),
        (b"# coding: klingon\n" + HEAD, None, "coding line: unknown encoding: klingon"),
        (b"\xef\xbb\xbf# coding: latin-1\n" + HEAD, None, "coding line: encoding problem: utf-8"),
        (b"# coding: hex\n" + HEAD, None, "cannot be decoded as hex: "),
        (b"# coding: unicode_escape\n" + HEAD + b"x = '\\ud800'\n", None, "cannot be "),
    )

    @pytest.mark.parametrize(("source", "line", "problem"), CASES)
    def test_by_the_command(
        self, tmp_path: Path, capsys: Captured, source: bytes, line: int | None, problem: str
    ) -> None:
        bad, good = tmp_path / "bad.py", tmp_path / "good.py"
        bad.write_bytes(source)
        good.write_text(TRAIN)
        assert main(["check", str(bad), str(good)]) == 2
        output = capsys.readouterr()
        assert output.out.count("W9701") == 2
        first, summary = output.err.splitlines()
        place = f"{bad}:{line}" if line else str(bad)
        assert first.startswith(f"xla-lint: {place}: {problem}")
        assert summary == "2 findings in 1 file (2 files checked, 1 problem)"

    @pytest.mark.parametrize("source", [case[0] for case in CASES if b"coding" not in case[0]])
    def test_by_the_plugin(self, tmp_path: Path, source: bytes) -> None:
        bad, good = tmp_path / "bad.py", tmp_path / "good.py"
        bad.write_bytes(source)
        good.write_text(TRAIN)
        first, *rest = pylint(bad, good)
        assert first.symbol in ("syntax-error", "parse-error")
        assert [message.symbol for message in rest] == [READ, READ]

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-be"])
    def test_what_hides_every_name_is_told_whatever_it_holds(
        self, tmp_path: Path, capsys: Captured, encoding: str
    ) -> None:
        (tmp_path / "train.py").write_bytes(TRAIN.encode(encoding))
        assert main(["check", str(tmp_path)]) == 2
        problem = "holds a null byte" if encoding == "utf-16-be" else "is text in UTF-16 or UTF-32, which Python does"
        assert problem in capsys.readouterr().err

    def test_outside_the_scope_nothing_is_parsed(self, tmp_path: Path, capsys: Captured) -> None:
        (tmp_path / "old.py").write_text("print 'no XLA here'\n")
        assert main(["check", str(tmp_path)]) == 0
        assert "1 of them outside" in capsys.readouterr().err

    def test_a_missing_path(self, tmp_path: Path, capsys: Captured) -> None:
        (tmp_path / "train.py").write_text(TRAIN)
        missing = tmp_path / "tran.py"
        assert main(["check", str(missing), str(tmp_path)]) == 2
        output = capsys.readouterr()
        assert output.out.count("W9701") == 2
        assert output.err.startswith(f"xla-lint: {missing}: cannot be read: no such file or directory\n")

    def test_a_missing_path_by_the_plugin(self, tmp_path: Path) -> None:
        (tmp_path / "train.py").write_text(TRAIN)
        first, *rest = pylint(tmp_path / "tran.py", tmp_path / "train.py")
        assert (first.symbol, len(rest)) == ("fatal", 2)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
    def test_a_pipe_is_not_waited_for(self, tmp_path: Path, capsys: Captured) -> None:
        (tmp_path / "train.py").write_text(TRAIN)
        os.mkfifo(tmp_path / "pipe.py")
        assert main(["check", str(tmp_path / "train.py")]) == 1
        assert capsys.readouterr().out.count("W9701") == 2
        assert main(["check", str(tmp_path / "pipe.py")]) == 2
        assert "pipe.py: is no regular file" in capsys.readouterr().err

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_without_permission(self, tmp_path: Path, capsys: Captured) -> None:
        (tmp_path / "train.py").write_text(TRAIN)
        (tmp_path / "secret.py").write_text(TRAIN)
        (tmp_path / "secret.py").chmod(0)
        (tmp_path / "hidden").mkdir(mode=0)
        assert main(["check", str(tmp_path)]) == 2
        output = capsys.readouterr()
        assert output.out.count("W9701") == 2
        problems = sorted(output.err.splitlines()[:2])
        assert problems == [
            f"xla-lint: {tmp_path / name}: cannot be read: permission denied" for name in ("hidden", "secret.py")
        ]


@pytest.mark.usefixtures("calls")
class TestFolders:
    def test_without_python(self, tmp_path: Path, capsys: Captured) -> None:
        (tmp_path / "notes.txt").write_text("import torch_xla")
        assert main(["check", str(tmp_path)]) == 0
        first, summary = capsys.readouterr().err.splitlines()
        assert first == f"xla-lint: {tmp_path} holds no Python file and no notebook"
        assert summary == "no findings (0 files checked)"

    def test_a_loop_of_links(self, tmp_path: Path, capsys: Captured) -> None:
        package = tmp_path / "package"
        package.mkdir()
        (package / "train.py").write_text(TRAIN)
        (package / "again").symlink_to(tmp_path, target_is_directory=True)
        (package / "itself.py").symlink_to(package / "itself.py")
        (package / "gone.py").symlink_to(package / "nothing.py")
        (package / "twin.py").symlink_to(package / "train.py")
        assert main(["check", str(tmp_path)]) == 1
        assert capsys.readouterr().err == "2 findings in 1 file (1 file checked)\n"

    @pytest.mark.parametrize(
        ("excluded", "checked"), [("", "b.py"), ("a.py", "b.py"), ("b.py", "a.py"), ("c.py", "b.py")]
    )
    def test_a_file_goes_by_its_own_name_unless_that_is_excluded(
        self, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, excluded: str, checked: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "b.py").write_text(TRAIN)
        for link in ("a.py", "c.py"):
            (tmp_path / link).symlink_to(tmp_path / "b.py")
        main(["check", ".", "--format=concise", f"--exclude={excluded}"])
        assert {line.partition(":")[0] for line in capsys.readouterr().out.splitlines()} == {checked}

    def test_a_link_to_itself_named_outright(self, tmp_path: Path, capsys: Captured) -> None:
        link = tmp_path / "itself.py"
        link.symlink_to(link)
        assert main(["check", str(link)]) == 2
        assert capsys.readouterr().err.startswith(
            f"xla-lint: {link}: cannot be read: too many levels of symbolic links"
        )


class TestSource:
    def test_a_folder_is_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="cannot be read: is a directory"):
            read(tmp_path)

    def test_line_ends_are_one_character(self) -> None:
        assert decode(b"a\r\nb\rc\n") == "a\nb\nc\n"

    def test_a_tree_needs_no_other_module(self, tmp_path: Path) -> None:
        (tmp_path / "torch.py").write_text("syntax error here")
        module = parse("from torch import *\nimport torch\ntorch.x = 1\n", tmp_path / "m.py")
        assert module.name == "m"
        assert module.file == str(tmp_path / "m.py")
        assert set(module.locals) >= {"torch"}

    def test_no_tree_is_kept(self) -> None:
        first, second = (parse(f"x = {number}", "same_name.py") for number in (1, 2))
        assert first.body[0].value.value == 1
        assert second.body[0].value.value == 2
        assert "same_name" not in MANAGER.astroid_cache

    def test_doubtful_code_raises_no_warning(self, recwarn: pytest.WarningsRecorder) -> None:
        parse("text = '\\d'\nif 1is 1: pass\n", "m.py")
        assert not recwarn.list

    @pytest.mark.parametrize(
        ("path", "name"), [("a/b/c.py", "b.c"), ("a/b/__init__.py", "b"), ("a/c.py", "c"), ("__init__.py", "__init__")]
    )
    def test_module_names(self, tmp_path: Path, path: str, name: str) -> None:
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / "b" / "__init__.py").touch()
        assert module_name(tmp_path / path) == name


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize(("text", "status"), [("import torch_xla\n", 0), ("import torch_xla\nx = (\n", 2)])
def test_a_standard_error_that_cannot_be_written(tmp_path: Path, redirection: str, text: str, status: int) -> None:
    (tmp_path / "train.py").write_text(text)
    command = f"{sys.executable} -m xla_lint check --verbose {tmp_path} {redirection}"
    root = str(Path(__file__).parent.parent)
    assert subprocess.run(command, shell=True, cwd=root, check=False).returncode == status
