"""`xla-lint check`: files in, findings out."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.cache import Cache, default_folder
from xla_lint.cli.config import chosen
from xla_lint.cli.files import find
from xla_lint.cli.many import check_many, check_source, usable_processors
from xla_lint.cli.progress import counted
from xla_lint.cli.results import Results
from xla_lint.program.project.project import Project

if TYPE_CHECKING:
    from argparse import Namespace

STDIN = "-"


def check(options: Namespace) -> int:
    """Check what the options name, report it, and return the exit status.

    Raises:
        UsageError: an option or the configuration will not do.
    """
    Project.forget()
    choice = chosen(options, Path.cwd())
    results = Results()
    cache = Cache(None if options.no_cache else options.cache_dir or default_folder(), choice)
    if STDIN in options.paths:
        path = options.stdin_filename or "<stdin>"
        results.add(check_source(path, sys.stdin.buffer.read(), choice, cache))
    found = find(path for path in options.paths if path != STDIN)
    results.notes += (f"{folder} holds no Python file and no notebook" for folder in found.empty)
    results.problems += found.problems
    paths = [str(path) for path in found.files]
    checks = check_many(paths, choice, cache, options.jobs or usable_processors())
    with contextlib.closing(checks), contextlib.closing(counted(checks, len(paths))) as steps:
        outcomes = {outcome.path: outcome for outcome in steps}
    for path in paths:
        results.add(outcomes[path])
    cache.save()
    importlib.import_module(f"xla_lint.cli.{options.format}").write(results)
    sys.stdout.flush()
    limits = results.limits if options.verbose else ()
    for line in (*results.notes, *filter(None, [results.left_out]), *results.problems, *limits):
        print(f"xla-lint: {line}", file=sys.stderr)
    print(results.summary, file=sys.stderr)
    return results.status
