"""What the server answers: a handler for each message of the protocol."""

from __future__ import annotations

from typing import BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from xla_lint import __version__
from xla_lint.server.actions import FIX_ALL
from xla_lint.server.session import Session

FILES = types.FileOperationRegistrationOptions(
    [
        types.FileOperationFilter(types.FileOperationPattern("**/*.py")),
        types.FileOperationFilter(types.FileOperationPattern("**", types.FileOperationPatternKind.Folder)),
    ]
)


def serve(stdin: BinaryIO, stdout: BinaryIO) -> bool:
    """Speak with an editor until it ends; whether it said so before.

    Texts are sent as a whole: the library counts more separators as ends of lines than the protocol does, so that
    parts of a text that holds a form feed would be put into wrong places.
    """
    server = LanguageServer("xla-lint", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    session = Session(server)
    _add_documents(server, session)
    _add_files(server, session)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await session.begin()

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        session.end()

    server.start_io(stdin, stdout)
    return session.has_ended


def _add_documents(server: LanguageServer, session: Session) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        session.hold(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def edited(params: types.DidChangeTextDocumentParams) -> None:
        session.hold(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        session.release(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        session.saved(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]))
    async def asked_for_fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await session.actions(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def pointed_at(params: types.HoverParams) -> types.Hover | None:
        return session.hover(params.text_document.uri, params.position)


def _add_files(server: LanguageServer, session: Session) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        session.changed(event.uri for event in params.changes)

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, FILES)
    def renamed(params: types.RenameFilesParams) -> None:
        session.changed(uri for file in params.files for uri in (file.old_uri, file.new_uri))

    @server.feature(types.WORKSPACE_DID_CREATE_FILES, FILES)
    def created(params: types.CreateFilesParams) -> None:
        session.changed(file.uri for file in params.files)

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, FILES)
    def deleted(params: types.DeleteFilesParams) -> None:
        session.changed(file.uri for file in params.files)
