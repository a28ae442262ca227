"""The worker process, a script: messages come in on standard input, and go out on standard output."""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from xla_lint.server.messages import FromWorker, ToWorker


def work() -> None:
    """Analyse until the server is gone."""
    from xla_lint.server.analysis import Analysis  # noqa: PLC0415 - found once the search path is set

    inbox: queue.Queue[ToWorker] = queue.Queue()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no message
    threading.Thread(target=receive, args=(sys.stdin.buffer, inbox), daemon=True).start()

    def send(message: FromWorker) -> None:
        content = pickle.dumps(message)
        output.write(len(content).to_bytes(8, "big") + content)
        output.flush()

    Analysis(inbox, send).run()


def receive(stream: BinaryIO, inbox: queue.Queue[ToWorker]) -> None:
    """Take messages from the server; where it is gone, end at once, whatever is being done."""
    try:
        while True:
            inbox.put(pickle.load(stream))
    except EOFError:
        os._exit(0)


if __name__ == "__main__":
    # The folder of this script hides no module of others, nor does the one that the editor was started in.
    sys.path[:1] = []
    sys.path.append(str(Path(__file__).parents[2]))
    work()
