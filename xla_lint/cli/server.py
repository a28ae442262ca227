"""`xla-lint server`: a language server on standard input and output."""

from __future__ import annotations

import os

from xla_lint.cli.usage import UsageError


def serve() -> int:
    """Speak with an editor until it ends.

    Raises:
        UsageError: the library that speaks the protocol is not installed.
    """
    try:
        from xla_lint.server.features import serve as speak  # noqa: PLC0415 - it is an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("the server needs pygls: pip install 'xla-lint[server]'") from error
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no message
    return 0 if speak(stdin, stdout) else 1
