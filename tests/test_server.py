"""The language server: real processes, driven by an editor that speaks the protocol."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest
from editor import Editor, editor
from lsprotocol import types
from projects import write_project

from tests.test_overlay import METERS, QUIET, TRAIN

READ = ["xla-value-read"]
EMOJI = "🔥"
"""One character, two units of UTF-16, four of UTF-8."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    write_program(project)
    return project


@pytest.fixture
def train(folder: Path) -> Path:
    return folder / "train.py"


@pytest.fixture
def meters(folder: Path) -> Path:
    return folder / "meters.py"


def write_program(folder: Path) -> None:
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "train.py").write_text(TRAIN)
    (folder / "meters.py").write_text(METERS)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def place(diagnostic: types.Diagnostic) -> tuple[int, int, int, int]:
    start, end = diagnostic.range.start, diagnostic.range.end
    return start.line, start.character, end.line, end.character


class TestWhatIsSaid:
    def test_of_a_file_that_is_opened(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                (found,) = await window.diagnostics(meters)
                assert place(found) == (1, 10, 1, 22)
                assert (found.code, found.severity) == ("xla-value-read", types.DiagnosticSeverity.Warning)
                assert found.source == "xla-lint"
                assert "(part of the XLA program train.py)" in found.message
                assert found.code_description is not None
                page = Path(url2pathname(urlparse(found.code_description.href).path))
                assert page.read_text().startswith("# xla-value-read")

        run(test())

    def test_under_the_pointer(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                (found,) = await window.diagnostics(meters)
                document = types.TextDocumentIdentifier(meters.as_uri())
                ask = window.client.text_document_hover_async
                there = await ask(types.HoverParams(document, types.Position(1, 12)))
                assert there is not None
                assert there.range == found.range
                assert isinstance(there.contents, types.MarkupContent)
                for told in (found.message, "**Why it matters**", "**What to write instead**", "executions"):
                    assert told in there.contents.value
                assert await ask(types.HoverParams(document, types.Position(0, 1))) is None

        run(test())

    def test_of_columns_after_characters_of_several_units(self, folder: Path, meters: Path) -> None:
        text = METERS.replace("print(value", f'print("{EMOJI}é", value')
        for encoding, units in (("utf-16", 2 + 1), ("utf-8", 4 + 2), ("utf-32", 2)):

            async def test(encoding: str = encoding, units: int = units) -> None:
                async with editor(folder, encodings=(encoding,)) as window:
                    window.open(meters, text)
                    (found,) = await window.diagnostics(meters)
                    assert place(found) == (1, 14 + units, 1, 26 + units)

            run(test())

    @pytest.mark.parametrize("end", ["\r\n", "\r", "\n"], ids=repr)
    def test_of_lines_however_they_end(self, folder: Path, meters: Path, end: str) -> None:
        text = ('NOTE = """\f\x1c\x85\u2028"""\n\f\n' + METERS).replace("\n", end)

        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters, text)
                (found,) = await window.diagnostics(meters)
                assert place(found) == (3, 10, 3, 22)
                window.edit(meters, end + text)
                (found,) = await window.diagnostics(meters)
                assert place(found) == (4, 10, 4, 22)

        run(test())

    def test_of_a_text_that_declares_another_encoding(self, folder: Path, meters: Path) -> None:
        text = "# coding: latin-1\n" + METERS.replace("print(value", 'print("é", value')

        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters, text)
                (found,) = await window.diagnostics(meters)
                assert place(found) == (2, 15, 2, 27)

        run(test())


OLD = """\
import torch_xla.core.xla_model as xm

device = xm.xla_device()
for step in range(10):
    xm.mark_step()
"""
"""Two deprecated names."""


class TestWhatIsOffered:
    @staticmethod
    async def offered(window: Editor, path: Path, line: int, *only: str) -> list[types.CodeAction]:
        place = types.Range(types.Position(line, 12), types.Position(line, 12))
        context = types.CodeActionContext(diagnostics=[], only=list(only) or None)
        document = types.TextDocumentIdentifier(path.as_uri())
        answer = await window.client.text_document_code_action_async(types.CodeActionParams(document, place, context))
        return [action for action in answer or [] if isinstance(action, types.CodeAction)]

    @staticmethod
    def applied(text: str, action: types.CodeAction) -> str:
        """What an editor makes of an action; edits do not meet, and a position is a line and units of UTF-16."""
        assert action.edit is not None
        assert action.edit.changes is not None
        ((edits),) = action.edit.changes.values()
        lines = text.splitlines(keepends=True)
        starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

        def offset(position: types.Position) -> int:
            line = lines[position.line] if position.line < len(lines) else ""
            units = line.encode("utf-16-le")[: 2 * position.character]
            return starts[position.line] + len(units.decode("utf-16-le"))

        for edit in sorted(edits, key=lambda edit: offset(edit.range.start), reverse=True):
            text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
        return text

    @pytest.mark.parametrize("end", ["\n", "\r\n"], ids=repr)
    def test_for_one_finding(self, folder: Path, end: str) -> None:
        path = folder / "old.py"
        text = OLD.replace("xm.mark", f"'{EMOJI}'; xm.mark").replace("\n", end)

        async def test() -> None:
            async with editor(folder) as window:
                window.open(path, text)
                found = await window.diagnostics(path)
                (action,) = await self.offered(window, path, 4)
                assert action.kind == types.CodeActionKind.QuickFix
                assert list(action.diagnostics or []) == [each for each in found if each.range.start.line == 4]
                fixed = self.applied(text, action)
                assert f"    '{EMOJI}'; torch_xla.sync(){end}" in fixed
                assert f"device = xm.xla_device(){end}" in fixed
                window.edit(path, fixed)
                assert [d.range.start.line for d in await window.diagnostics(path)] == [
                    line for line, code in enumerate(fixed.splitlines()) if "xla_device" in code
                ]
                assert await self.offered(window, path, 0) == []

        run(test())

    def test_for_all_findings_at_once(self, folder: Path) -> None:
        path = folder / "old.py"

        async def test() -> None:
            async with editor(folder) as window:
                window.open(path, OLD)
                assert len(await window.diagnostics(path)) == 2
                (action,) = await self.offered(window, path, 0, "source.fixAll")
                assert action.kind == "source.fixAll.xla-lint"
                window.edit(path, self.applied(OLD, action))
                assert await window.diagnostics(path) == []
                assert await self.offered(window, path, 0, "source.fixAll") == []

        run(test())

    def test_not_where_nothing_can_be_done(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                await window.diagnostics(meters)
                assert await self.offered(window, meters, 0) == []
                assert await self.offered(window, meters, 1, "refactor") == []

        run(test())


class TestWhatIsTyped:
    def test_counts_at_once(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                for text in (METERS + "# typing", QUIET, METERS):
                    window.edit(meters, text)
                    assert await window.codes(meters) == ([] if text == QUIET else READ)

        run(test())

    def test_counts_for_every_file_of_the_program(self, folder: Path, train: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                window.open(train)
                assert await window.codes(meters) == READ
                assert await window.codes(train) == []
                window.edit(train, TRAIN.replace("    note(loss)\n", ""))
                await window.until_codes(meters, [])
                window.edit(train, TRAIN)
                await window.until_codes(meters, READ)

        run(test())

    def test_may_be_half_typed(self, folder: Path, train: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                window.open(train)
                assert await window.codes(meters) == READ
                for half in ("for x in", "value = note(", "if value:", 'print("', "class Meter"):
                    window.edit(meters, f"{half}\n\n\n{METERS}")
                    assert list(map(place, await window.diagnostics(meters))) == [(4, 10, 4, 22)], half
                window.edit(meters, METERS)
                window.edit(train, TRAIN.replace("    optimizer.step()\n", "    optimizer.\n"))
                await window.diagnostics(train)
                window.edit(meters, METERS + "\n")
                assert await window.codes(meters) == READ

        run(test())

    def test_counts_no_longer_once_it_is_closed(self, folder: Path, train: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                window.open(train, TRAIN.replace("    note(loss)\n", ""))
                assert await window.codes(meters) == []
                window.close(train)
                await window.until_codes(meters, READ)
                window.close(meters)
                await window.until(lambda: not window.published[meters.as_uri()].diagnostics)

        run(test())

    def test_counts_in_its_own_window(self, folder: Path, train: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as one, editor(folder) as other:
                for window in (one, other):
                    window.open(meters)
                one.open(train, TRAIN.replace("    note(loss)\n", ""))
                await one.until_codes(meters, [])
                other.edit(meters, METERS + "\n")
                assert await other.codes(meters) == READ

        run(test())

    def test_is_checked_as_it_stands_after_many_keys(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                await window.diagnostics(meters)
                for length in range(40):
                    window.edit(meters, METERS + "#" * length)
                window.edit(meters, "\n" + METERS)
                (found,) = await window.diagnostics(meters)
                assert place(found) == (2, 10, 2, 22)

        run(test())

    def test_is_not_checked_where_it_is_no_file(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                text = "import torch_xla\n"
                item = types.TextDocumentItem("untitled:Untitled-1", "python", 1, text)
                window.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
                window.open(meters)
                assert await window.codes(meters) == READ
                assert window.published.keys() == {meters.as_uri()}

        run(test())


class TestWhatHappensOnDisk:
    def test_is_told_by_the_editor(self, folder: Path, train: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                assert await window.codes(meters) == READ
                await window.until(lambda: window.registered == ["workspace/didChangeWatchedFiles"])
                train.write_text(TRAIN.replace("    note(loss)\n", ""))
                window.tell_changed(train)
                await window.until_codes(meters, [])

        run(test())

    def test_is_looked_for_at_each_save_where_the_editor_does_not_watch(
        self, folder: Path, train: Path, meters: Path
    ) -> None:
        async def test() -> None:
            async with editor(folder, is_watching=False) as window:
                window.open(meters)
                assert await window.codes(meters) == READ
                train.write_text(TRAIN.replace("    note(loss)\n", ""))
                window.save(meters, METERS)
                await window.until_codes(meters, [])

        run(test())

    def test_may_be_a_new_name(self, folder: Path, train: Path, meters: Path) -> None:
        async def test() -> None:
            renamed = folder / "tools.py"
            async with editor(folder) as window:
                window.open(meters)
                assert await window.codes(meters) == READ
                window.close(meters)
                meters.rename(renamed)
                window.open(renamed)
                files = [types.FileRename(meters.as_uri(), renamed.as_uri())]
                window.client.workspace_did_rename_files(types.RenameFilesParams(files))
                assert await window.codes(renamed) == []
                window.open(train, TRAIN.replace("from meters", "from tools"))
                await window.until_codes(renamed, READ)

        run(test())

    def test_may_be_that_files_come_and_go(self, folder: Path, train: Path, meters: Path) -> None:
        async def test() -> None:
            train.unlink()
            async with editor(folder) as window:
                window.open(meters)
                assert await window.codes(meters) == []
                train.write_text(TRAIN)
                created = types.CreateFilesParams([types.FileCreate(train.as_uri())])
                window.client.workspace_did_create_files(created)
                await window.until_codes(meters, READ)
                train.unlink()
                deleted = types.DeleteFilesParams([types.FileDelete(train.as_uri())])
                window.client.workspace_did_delete_files(deleted)
                await window.until_codes(meters, [])

        run(test())

    def test_may_be_a_whole_folder(self, folder: Path, train: Path, meters: Path) -> None:
        async def test() -> None:
            train.write_text(TRAIN.replace("from meters", "from tools.meters"))
            async with editor(folder) as window:
                inner = folder / "tools"
                inner.mkdir()
                window.open(meters)
                assert await window.codes(meters) == []
                shutil.move(meters, inner)
                window.open(inner / "meters.py")
                window.client.workspace_did_create_files(types.CreateFilesParams([types.FileCreate(inner.as_uri())]))
                await window.diagnostics(inner / "meters.py")
                await window.until_codes(inner / "meters.py", READ)

        run(test())

    def test_may_be_in_several_folders(self, tmp_path: Path) -> None:
        async def test() -> None:
            folders = [tmp_path / name for name in ("one", "two")]
            for each in folders:
                write_program(each)
            (folders[1] / "train.py").write_text(TRAIN.replace("    note(loss)\n", ""))
            async with editor(*folders) as window:
                for each in folders:
                    window.open(each / "meters.py")
                assert [await window.codes(each / "meters.py") for each in folders] == [READ, []]

        run(test())


class TestConfiguration:
    def test_is_read_again_when_it_changes(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            table = folder / "pyproject.toml"
            async with editor(folder) as window:
                window.open(meters)
                assert await window.codes(meters) == READ
                for text, codes in (
                    ('[tool.xla-lint]\nignore = ["reads"]\n', []),
                    ("", READ),
                    ('[tool.xla-lint]\nexclude = ["meters.py"]\n', []),
                ):
                    table.write_text(text)
                    window.tell_changed(table)
                    await window.until_codes(meters, codes)

        run(test())

    def test_that_will_not_do_is_told_once(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            table = folder / "pyproject.toml"
            table.write_text('[tool.xla-lint]\nignore = ["raeds"]\n')
            async with editor(folder) as window:
                window.open(meters)
                await window.diagnostics(meters)
                window.edit(meters, METERS + "\n")
                await window.diagnostics(meters)
                assert await TestWhatIsOffered.offered(window, meters, 0, "source.fixAll") == []
                (told,) = window.shown
                assert str(table) in told
                assert "did you mean reads?" in told
                table.write_text("")
                window.tell_changed(table)
                await window.until_codes(meters, READ)

        run(test())

    def test_that_will_not_do_in_a_folder_is_no_crash(self, folder: Path) -> None:
        inner = folder / "inner"
        inner.mkdir()
        (inner / "pyproject.toml").write_text("[tool.xla-lint]\nscope = 1\n")

        async def test() -> None:
            async with editor(folder) as window:
                window.open(inner / "old.py", OLD)
                assert await window.codes(inner / "old.py") == []
                assert await TestWhatIsOffered.offered(window, inner / "old.py", 0, "source.fixAll") == []
                (told,) = window.shown
                assert "'scope' must be a string" in told
                assert not window.logged[1:]

        run(test())

    def test_may_name_a_baseline(self, folder: Path, meters: Path) -> None:
        (folder / "pyproject.toml").write_text('[tool.xla-lint]\nbaseline = "accepted.json"\n')
        command = [sys.executable, "-m", "xla_lint", "check", "--no-cache", "--write-baseline", str(meters)]
        subprocess.run(command, check=True, cwd=folder, capture_output=True)

        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                assert await window.codes(meters) == []
                window.edit(meters, METERS + "    return value.item() + 1\n")
                assert await window.codes(meters) == READ

        run(test())


class TestProcesses:
    @staticmethod
    def children(pid: int) -> list[int]:
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
        return [int(child) for child in listed.stdout.split()]

    @classmethod
    def worker(cls, window: Editor) -> int:
        process = window.client._server
        assert process is not None
        (found,) = cls.children(process.pid)
        return found

    def test_answers_do_not_wait_for_the_analysis(self, tmp_path: Path) -> None:
        longest = write_project(tmp_path, files=40, lines=2000)

        async def test() -> None:
            async with editor(tmp_path) as window:
                window.open(longest)
                document = types.TextDocumentIdentifier(longest.as_uri())
                asked = types.HoverParams(document, types.Position(0, 0))
                assert await window.client.text_document_hover_async(asked) is None
                assert not window.published
                assert len(await window.diagnostics(longest)) > 100

        run(test())

    def test_a_crash_costs_a_moment(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                await window.diagnostics(meters)
                os.kill(self.worker(window), signal.SIGKILL)
                window.edit(meters, "\n" + METERS)
                assert await window.codes(meters) == READ

        run(test())

    def test_the_worker_ends_with_the_server(self, folder: Path, meters: Path) -> None:
        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                await window.diagnostics(meters)
                worker = self.worker(window)
            with pytest.raises(ProcessLookupError):
                os.kill(worker, 0)

        run(test())

    def test_the_worker_ends_where_the_server_is_killed(self, folder: Path, meters: Path, tmp_path: Path) -> None:
        async def test() -> None:
            window = Editor(folder)
            await window.start(tmp_path)
            window.open(meters)
            await window.diagnostics(meters)
            worker = self.worker(window)
            assert window.client._server is not None
            window.client._server.kill()
            for _ in range(600):
                try:
                    os.kill(worker, 0)
                except ProcessLookupError:
                    return
                await asyncio.sleep(0.05)
            pytest.fail("the worker is still there")

        run(test())

    def test_nothing_of_the_folder_is_imported(self, folder: Path, meters: Path) -> None:
        for name in ("queue", "pickle", "asyncio", "astroid", "pygls"):
            (folder / f"{name}.py").write_text("raise SystemExit('imported')\n")

        async def test() -> None:
            async with editor(folder) as window:
                window.open(meters)
                assert await window.codes(meters) == READ

        run(test())

    def test_without_the_library_there_is_one_line(self) -> None:
        code = "import sys; sys.modules['pygls'] = None; from xla_lint.cli.main import main; sys.exit(main(['server']))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "xla-lint: error: the server needs pygls: pip install 'xla-lint[server]'\n"
