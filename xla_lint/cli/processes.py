"""Files shared among processes, and what to do where one of these crashes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xla_lint.cli.many import check_file
from xla_lint.cli.results import Outcome, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xla_lint.cli.many import Job

BLOCKS = 4
"""How many blocks of files each process is given, so that none waits long for the last one."""
CRASHED = "the process that checked it crashed; please report this line together with the file"


def shared(jobs: list[Job], processes: int) -> Iterator[Outcome]:
    """Check files in several processes; where one crashes, what is left is checked file by file."""
    size = -(-len(jobs) // (processes * BLOCKS))
    blocks = [jobs[start : start + size] for start in range(0, len(jobs), size)]
    left: list[Job] = []
    with _pool(processes) as pool:
        futures = {pool.submit(check_block, block): block for block in blocks}
        for future in as_completed(futures):
            if isinstance(future.exception(), BrokenProcessPool):
                left += futures[future]
            else:
                yield from future.result()
    while left:
        with _pool(1) as pool:
            try:
                while left:
                    yield pool.submit(check_file, left[0]).result()
                    del left[0]
            except BrokenProcessPool:
                yield Outcome(left[0].path, problems=[Problem(left[0].path, CRASHED)])
                del left[0]


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the work, and at once where that is broken off."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(processes, initializer=_begin)
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Let this process end by signals at once, and end when the one that started it is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def check_block(jobs: Sequence[Job]) -> list[Outcome]:
    """Check some files in this process."""
    return [check_file(job) for job in jobs]
