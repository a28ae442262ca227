"""The worker as the server sees it: a process that is given messages, and started again where it crashes."""

from __future__ import annotations

import asyncio
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.server import worker
from xla_lint.server.messages import Checked

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.server.messages import FromWorker, ToWorker

MOST_CRASHES = 5
"""After so many crashes without an answer in between, the worker is not started again."""


class Worker:
    """The process that analyses."""

    def __init__(
        self, started: Callable[[], None], answered: Callable[[FromWorker], None], crashed: Callable[[], None]
    ) -> None:
        """Tell of each start, so that the process gets to know what is open, of each answer, and of each crash."""
        self._started, self._answered, self._crashed = started, answered, crashed
        self._process: asyncio.subprocess.Process | None = None
        self._crashes = 0

    async def run(self) -> None:
        """Keep a process running, until it crashes too often."""
        while self._crashes < MOST_CRASHES:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(Path(worker.__file__)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            self._started()
            try:
                await self._listen(self._process)
            finally:
                if self._process.returncode is None:
                    self._process.kill()
            self._crashes += 1
            self._crashed()

    @property
    def has_given_up(self) -> bool:
        """Whether it is not started again."""
        return self._crashes >= MOST_CRASHES

    def send(self, message: ToWorker) -> bool:
        """Give the process a message; whether there is one. A new one is told what is open."""
        if self._process is None or self._process.stdin is None or self._process.returncode is not None:
            return False
        self._process.stdin.write(pickle.dumps(message))
        return True

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while True:
                size = int.from_bytes(await process.stdout.readexactly(8), "big")
                answer: FromWorker = pickle.loads(await process.stdout.readexactly(size))
                if isinstance(answer, Checked):
                    self._crashes = 0
                self._answered(answer)
        except asyncio.IncompleteReadError:
            await process.wait()
