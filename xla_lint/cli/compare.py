"""`xla-lint compare`: programs are run, and what the linter says of them is held against what the runtime records."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.ends import say
from xla_lint.cli.usage import UsageError, need_place
from xla_lint.runtime import agreement_table
from xla_lint.runtime.agreement import compare as agreement_of
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.summary import Summary
from xla_lint.runtime.supervise import supervise

if TYPE_CHECKING:
    from argparse import Namespace

    from xla_lint.runtime.agreement import Agreement

WARMUP = 3
"""The steps until a program is warm, as for `xla-lint run`."""


def compare(options: Namespace) -> int:
    """Compare what the options name and print the table; 1 where the halves disagree or a program failed, else 0.

    Raises:
        UsageError: something to compare is missing or unreadable, or a report cannot be written.
    """
    for path in filter(None, (options.json, options.markdown)):
        need_place(Path(path))
    if options.keep:
        _make(Path(options.keep))
    linted = Linted()
    agreements: list[Agreement] = []
    for number, argument in enumerate(options.runs, 1):
        if argument.endswith(".json"):
            summary = _recorded(argument)
        else:
            say(f"xla-lint: running {argument} ({number} of {len(options.runs)})")
            summary = _run(argument, options.time_limit)
            if options.keep:
                _write(Path(options.keep) / f"{number:03}-{_stem(argument)}.json", json.dumps(summary.as_json()) + "\n")
        agreements.append(agreement_of(summary, linted))
    agreement_table.write(agreements, sys.stdout)
    for problem in linted.problems:
        say(f"xla-lint: {problem}")
    if options.json:
        _write(Path(options.json), json.dumps(agreement_table.as_json(agreements), indent=1) + "\n")
    if options.markdown:
        _write(Path(options.markdown), agreement_table.markdown(agreements))
    for each in agreements:
        if not each.ended_well:
            say(f"xla-lint: {each.script}: the program {each.ended}")
    return int(any(each.disagreements or not each.ended_well for each in agreements))


def _run(argument: str, limit: float) -> Summary:
    words = _words(argument)
    path = Path(words[0])
    if not path.is_file():
        raise UsageError(f"{path} is no file")
    return supervise([str(path.resolve()), *words[1:]], WARMUP, lines=True, silent=True, limit=limit).summary


def _words(argument: str) -> list[str]:
    try:
        words = shlex.split(argument)
    except ValueError as error:
        raise UsageError(f"{argument}: {error}") from error
    if not words:
        raise UsageError("name a script")
    return words


def _stem(argument: str) -> str:
    return Path(_words(argument)[0]).stem


def _recorded(path: str) -> Summary:
    try:
        summary = Summary.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no report that this version has written") from error
    if summary.parts and not summary.ran:
        raise UsageError(f"{path} does not say which lines ran: record it by 'xla-lint compare --keep FOLDER SCRIPT'")
    return summary


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
