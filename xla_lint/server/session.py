"""The server as the editor sees it: what it is told goes to the worker, and what the worker finds is published."""

from __future__ import annotations

import asyncio
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from xla_lint.server.actions import actions, asks_for_all, asks_for_quick_fixes
from xla_lint.server.diagnostics import SOURCE, diagnostics, lines_of, overlap, range_of
from xla_lint.server.hover import hover
from xla_lint.server.messages import AllChanged, Begun, Changed, Checked, FixesFound, FixesWanted, Held, Released
from xla_lint.server.process import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.places import Extent
    from xla_lint.server.messages import FromWorker

PYTHON = ".py"
WATCHED = ("**/*.{py,toml,txt,cfg,lock,yml,yaml}", "**/Pipfile")
"""What may decide about findings besides the open files: modules, the configuration, declarations of releases."""
MOST_CHANGES = 100
"""Where more files change at once, everything is looked at again: another branch was checked out, say."""


class Session:
    """One editor, and what it has open."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._uris: dict[Path, str] = {}
        """How the editor calls the files that it has open."""
        self._found: dict[Path, Checked] = {}
        self._begun: Path | None = None
        self._crashing: dict[Path, int] = {}
        """The files in whose check the worker crashed, and the version that they had."""
        self._is_watching = False
        self._worker = Worker(self._tell_all, self._answered, self._crashed)
        self._requests = itertools.count()
        self._asked: dict[int, asyncio.Future[FixesFound]] = {}
        """The requests to the worker that are not answered yet."""
        self._running: asyncio.Task[None] | None = None
        self.has_ended = False
        """Whether the editor has said that it is done."""

    # What the editor tells.

    async def begin(self) -> None:
        """Start the worker, and ask for news of files that are not open."""
        self._running = asyncio.create_task(self._worker.run())
        files = self._server.client_capabilities.workspace
        watching = files.did_change_watched_files if files is not None else None
        if watching is not None and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions(list(map(types.FileSystemWatcher, WATCHED)))
            registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await self._server.client_register_capability_async(types.RegistrationParams([registration]))
            self._is_watching = True

    def hold(self, uri: str) -> None:
        """A file was opened or edited."""
        path = path_of(uri)
        if path is not None and path.suffix == PYTHON:
            self._uris[path] = uri
            self._worker.send(self._held(path, uri))

    def release(self, uri: str) -> None:
        """A file was closed."""
        path = path_of(uri)
        if path is not None and self._uris.pop(path, None) is not None:
            self._found.pop(path, None)
            self._worker.send(Released(path))
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def saved(self, uri: str) -> None:
        """A file was saved: where the editor tells of no others, any may have changed meanwhile."""
        path = path_of(uri)
        if not self._is_watching:
            self._worker.send(AllChanged())
        elif path is not None:
            self._worker.send(Changed((path,)))

    def changed(self, uris: Iterable[str]) -> None:
        """Files have changed on disk, have come or are gone; folders too."""
        paths = tuple(path for path in map(path_of, uris) if path is not None)
        if len(paths) > MOST_CHANGES or any(not path.suffix for path in paths):
            self._worker.send(AllChanged())
        elif paths:
            self._worker.send(Changed(paths))

    def end(self) -> None:
        """Let the worker end."""
        self.has_ended = True
        if self._running is not None:
            self._running.cancel()

    # What the editor asks.

    def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """What is to be shown at a position of a file."""
        document = self._server.workspace.get_text_document(uri)
        checked = self._current(uri)
        if checked is None:
            return None
        return hover(position, checked, lines_of(document.source), document.position_codec)

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done about the findings in a range of a file, or about all."""
        uri, only = params.text_document.uri, params.context.only
        document = self._server.workspace.get_text_document(uri)
        checked = self._current(uri)
        if checked is None:
            return []
        lines = lines_of(document.source)
        places = frozenset(
            (finding.symbol, finding.place)
            for finding in checked.findings
            if checked.pages[finding.symbol].has_fixes
            and overlap(range_of(finding.place, lines, document.position_codec), params.range)
        )
        everything = asks_for_all(only)
        if not everything and not (places and asks_for_quick_fixes(only)):
            return []
        found = await self._ask(checked.path, checked.version, places, everything=everything)
        return actions(found, checked, document, lines)

    async def _ask(
        self, path: Path, version: int, places: frozenset[tuple[str, Extent]], *, everything: bool
    ) -> FixesFound:
        request = next(self._requests)
        answer = self._asked[request] = asyncio.get_running_loop().create_future()
        try:
            is_sent = self._worker.send(FixesWanted(request, path, version, places, everything))
            return await answer if is_sent else FixesFound(request)
        finally:
            del self._asked[request]

    def _current(self, uri: str) -> Checked | None:
        """What was found in a file, None where its text is another one by now."""
        path = path_of(uri)
        checked = self._found.get(path) if path is not None else None
        version = self._server.workspace.get_text_document(uri).version or 0
        return checked if checked is not None and checked.version == version else None

    # What the worker tells.

    def _tell_all(self) -> None:
        for path, uri in self._uris.items():
            self._worker.send(self._held(path, uri))

    def _held(self, path: Path, uri: str) -> Held:
        document = self._server.workspace.get_text_document(uri)
        version = document.version or 0
        return Held(path, document.source, version, self._crashing.get(path) != version)

    def _answered(self, answer: FromWorker) -> None:
        if isinstance(answer, Begun):
            self._begun = answer.path
        elif isinstance(answer, Checked):
            self._begun = None
            self._publish(answer)
        elif isinstance(answer, FixesFound):
            self._settle(answer)
        else:
            kind = types.MessageType.Error if answer.is_error else types.MessageType.Info
            self._say(answer.text, kind, shown=answer.is_error)

    def _publish(self, checked: Checked) -> None:
        uri = self._uris.get(checked.path)
        if uri is None:
            return
        document = self._server.workspace.get_text_document(uri)
        if (document.version or 0) != checked.version:
            return
        self._found[checked.path] = checked
        lines = lines_of(document.source)
        codec = self._server.workspace.position_codec
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics(checked, lines, codec), version=document.version)
        )

    def _crashed(self) -> None:
        for request in self._asked:
            self._settle(FixesFound(request))
        path, self._begun = self._begun, None
        if path is not None and path in self._uris:
            self._crashing[path] = self._server.workspace.get_text_document(self._uris[path]).version or 0
            self._say(
                f"the process that checked {path} crashed; please report this line together with the file",
                types.MessageType.Warning,
            )
        if self._worker.has_given_up:
            self._say("the analysis crashes again and again, and has stopped", types.MessageType.Error, shown=True)

    def _settle(self, found: FixesFound) -> None:
        answer = self._asked.get(found.request)
        if answer is not None and not answer.done():
            answer.set_result(found)

    def _say(self, text: str, kind: types.MessageType, *, shown: bool = False) -> None:
        self._server.window_log_message(types.LogMessageParams(kind, f"{SOURCE}: {text}"))
        if shown:
            self._server.window_show_message(types.ShowMessageParams(kind, f"{SOURCE}: {text}"))


def path_of(uri: str) -> Path | None:
    """The file that an address means, None for what is no file."""
    found = to_fs_path(uri)
    return Path(os.path.abspath(found)) if found else None  # noqa: PTH100 - the analysis has no dots in paths either
