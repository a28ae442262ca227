"""`xla-lint fix`: files in, their repaired versions or a diff out."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.config import Configuration
from xla_lint.cli.ends import say
from xla_lint.cli.files import find
from xla_lint.cli.fixing import repaired
from xla_lint.cli.notebook import SUFFIX
from xla_lint.cli.results import Problem, counted_as, spot
from xla_lint.cli.rewrite import RewriteError, rewrite

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from xla_lint.cli.fixing import Repaired

LINE = re.compile(rb"[^\n]*\n|[^\n]+")
"""A line as git sees it."""
NO_NEWLINE = b"\n\\ No newline at end of file\n"


def fix(options: Namespace) -> int:
    """Repair what the options name, or show how, and return the exit status.

    Raises:
        UsageError: an option or the configuration will not do.
    """
    configuration = Configuration(options)
    found = find(options.paths, configuration.excludes)
    paths = [path for path in map(str, found.files) if not path.endswith(SUFFIX)]
    files = repaired({path: configuration.choice(path) for path in paths}, unsafe=options.unsafe)
    problems = [*found.problems, *(file.problem for file in files if file.problem is not None)]
    changed = [file for file in files if file.new != file.old]
    if options.diff:
        sys.stdout.flush()
        for file in changed:
            sys.stdout.buffer.writelines(diff(file))
    else:
        failed = {file.path: problem for file in changed if (problem := _problem_in_writing(file)) is not None}
        problems += failed.values()
        changed = [file for file in changed if file.path not in failed]
        _tell(changed)
    sys.stdout.flush()
    notebooks = sum(path.suffix == SUFFIX for path in found.files)
    notes = [f"{counted_as(notebooks, 'notebook')} left alone: fixes are for Python files"] if notebooks else []
    for line in (*notes, *problems):
        say(f"xla-lint: {line}")
    say(_summary(changed, files, would=options.diff))
    if problems:
        return 2
    return 1 if options.diff and changed else 0


def _problem_in_writing(file: Repaired) -> Problem | None:
    try:
        rewrite(Path(file.path), file.old, file.new)
    except RewriteError as error:
        return Problem(file.path, str(error))
    return None


def _tell(files: Sequence[Repaired]) -> None:
    for file in files:
        for finding, made in file.made:
            place = spot(finding.path, None, finding.place.line, finding.place.column)
            print(f"{place}: {finding.code} {finding.symbol} fixed: {made.what}")


def _summary(changed: Sequence[Repaired], files: Sequence[Repaired], *, would: bool) -> str:
    made = sum(len(file.made) for file in changed)
    more = sum(file.unsafe for file in files)
    text = f"{counted_as(made, 'finding')} {'to fix' if would else 'fixed'} in {counted_as(len(changed), 'file')}"
    text = text if made else "nothing to fix"
    for symbol, number in sorted(sum((file.instead for file in changed), Counter()).items()):
        text += f"; {counted_as(number, 'finding')} of {symbol} instead"
    return f"{text}; {more} more with --unsafe" if more else text


def diff(file: Repaired) -> Iterator[bytes]:
    """A file's change as `git apply` takes it, in the file's own encoding and with its ends of lines."""
    name = os.fsencode(os.path.relpath(os.path.realpath(file.path), os.path.realpath(Path.cwd())))
    name = name.replace(os.fsencode(os.sep), b"/") + (b"\t" if b" " in name else b"")
    old, new = LINE.findall(file.old), LINE.findall(file.new)
    for line in difflib.diff_bytes(difflib.unified_diff, old, new, b"a/" + name, b"b/" + name):
        yield line if line.endswith(b"\n") else line + NO_NEWLINE
