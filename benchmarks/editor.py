"""An editor for tests and benchmarks: it speaks the Language Server Protocol with a server process of its own."""

from __future__ import annotations

import asyncio
import functools
import itertools
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 60.0
"""Seconds after which an answer is not waited for any longer, on a busy machine too."""
COMMAND = Path(sys.executable).with_name("xla-lint")
UTF16 = types.PositionEncodingKind.Utf16


class Editor:
    """One window, with the files that are open in it."""

    def __init__(self, folder: Path, *, is_watching: bool = True) -> None:
        self.folder = folder
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.shown: list[str] = []
        self.logged: list[str] = []
        self.registered: list[str] = []
        self.capabilities: types.ServerCapabilities
        self.client = LanguageClient("editor", "1")
        self._is_watching = is_watching
        self._versions: dict[str, itertools.count[int]] = {}
        self._current: dict[str, int] = {}
        self._news = asyncio.Event()
        self._listen()

    def _listen(self) -> None:
        handlers: dict[str, Callable[[Any], None]] = {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: self._publish,
            types.WINDOW_SHOW_MESSAGE: self._show,
            types.WINDOW_LOG_MESSAGE: self._log,
            types.CLIENT_REGISTER_CAPABILITY: self._register,
        }
        for method, handler in handlers.items():
            self.client.feature(method)(functools.partial(handler))

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self.published[params.uri] = params
        self._news.set()

    def _show(self, params: types.ShowMessageParams) -> None:
        self.shown.append(params.message)
        self._news.set()

    def _log(self, params: types.LogMessageParams) -> None:
        self.logged.append(params.message)
        self._news.set()

    def _register(self, params: types.RegistrationParams) -> None:
        self.registered += (registration.method for registration in params.registrations)
        self._news.set()

    async def start(
        self,
        cache: Path,
        encodings: Sequence[types.PositionEncodingKind | str] = (UTF16,),
        folders: Sequence[Path] = (),
        command: Sequence[str] = (str(COMMAND), "server"),
    ) -> None:
        """Start a server, and tell it what the editor can do."""
        env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        await self.client.start_io(*command, env=env, cwd=str(self.folder))
        watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=self._is_watching)
        roots = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in (self.folder, *folders)]
        answer = await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(
                    general=types.GeneralClientCapabilities(position_encodings=list(encodings)),
                    workspace=types.WorkspaceClientCapabilities(did_change_watched_files=watching),
                ),
                root_uri=self.folder.as_uri(),
                workspace_folders=roots,
            )
        )
        self.capabilities = answer.capabilities
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> int:
        """End the server as the protocol says, and give its exit status."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        process = self.client._server
        assert process is not None
        return await asyncio.wait_for(process.wait(), PATIENCE)

    # What a user does.

    def open(self, path: Path, text: str | None = None) -> None:
        """Open a file, or a text that is nowhere on disk yet."""
        uri = path.as_uri()
        self._versions[uri] = itertools.count(1)
        self._current[uri] = next(self._versions[uri])
        shown = path.read_bytes().decode() if text is None else text
        item = types.TextDocumentItem(uri, "python", self._current[uri], shown)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def edit(self, path: Path, text: str) -> None:
        """Let an open file have another text."""
        uri = path.as_uri()
        self._current[uri] = next(self._versions[uri])
        whole = types.TextDocumentContentChangeWholeDocument(text)
        document = types.VersionedTextDocumentIdentifier(self._current[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def save(self, path: Path, text: str) -> None:
        """Write an open file."""
        path.write_bytes(text.encode())
        document = types.TextDocumentIdentifier(path.as_uri())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    def close(self, path: Path) -> None:
        """Close an open file."""
        document = types.TextDocumentIdentifier(path.as_uri())
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    def tell_changed(self, *paths: Path) -> None:
        """Tell that files have changed on disk, as an editor does that watches them."""
        changes = [types.FileEvent(path.as_uri(), types.FileChangeType.Changed) for path in paths]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))

    def configure(self, settings: dict[str, Any]) -> None:
        """Give the server settings of its own."""
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))

    # What a user sees.

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until the server has said something."""
        while not holds():
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)

    async def diagnostics(self, path: Path) -> list[types.Diagnostic]:
        """What is said of the text that a file has now."""
        uri = path.as_uri()
        await self.until(lambda: uri in self.published and self.published[uri].version == self._current[uri])
        return list(self.published[uri].diagnostics)

    async def codes(self, path: Path) -> list[Any]:
        """The symbols of what is said of the text that a file has now."""
        return [diagnostic.code for diagnostic in await self.diagnostics(path)]

    async def until_codes(self, path: Path, codes: list[str]) -> None:
        """Wait until this is what is said of a file: what changes elsewhere changes it later."""
        uri = path.as_uri()
        await self.until(lambda: uri in self.published and [d.code for d in self.published[uri].diagnostics] == codes)


@asynccontextmanager
async def editor(
    folder: Path,
    *folders: Path,
    cache: Path | None = None,
    is_watching: bool = True,
    encodings: Sequence[types.PositionEncodingKind | str] = (UTF16,),
    command: Sequence[str] = (str(COMMAND), "server"),
) -> AsyncIterator[Editor]:
    """An editor that looks at a folder, or several; its server must end well."""
    found = Editor(folder, is_watching=is_watching)
    await found.start(cache or folder / ".cache", encodings, folders, command)
    yield found
    assert await found.stop() == 0
