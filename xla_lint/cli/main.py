"""The command line: what was asked for, and the exit status.

Only what every call needs is imported here; each command imports the rest when it runs.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from xla_lint.cli.ends import Terminated, discard_output, say, terminable, writing
from xla_lint.cli.parser import parsed, parser
from xla_lint.cli.usage import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

WRONG_USAGE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0: nothing found; 1: findings; 2: wrong usage, or a file that could not be checked; 130: interrupted;
    143: terminated.

    Raises:
        SystemExit: from argparse, after `--help` and `--version` (0) and for unknown options (2).
    """
    options = parsed(sys.argv[1:] if argv is None else argv)
    _write_anything(sys.stdout, sys.stderr)
    try:
        with terminable(), writing():
            status = _run(options)
    except UsageError as error:
        say(f"xla-lint: error: {error}")
        return WRONG_USAGE
    except KeyboardInterrupt:
        say("xla-lint: interrupted")
        return INTERRUPTED
    except Terminated:
        say("xla-lint: terminated")
        return TERMINATED
    except BrokenPipeError:
        discard_output()
        return BROKEN_PIPE
    return status


def _run(options: Namespace) -> int:
    if options.command == "check":
        from xla_lint.program.interpreter.collector_pause import collector_paused, spare_collector  # noqa: PLC0415

        with collector_paused():  # what is loaded is no garbage
            from xla_lint.cli.check import check  # noqa: PLC0415
            from xla_lint.rules import all_rules  # noqa: PLC0415

            all_rules()
        spare_collector()
        return check(options)
    if options.command == "fix":
        from xla_lint.cli.fix import fix  # noqa: PLC0415

        return fix(options)
    if options.command == "migrate":
        from xla_lint.cli.migrate import migrate  # noqa: PLC0415

        return migrate(options)
    if options.command == "server":
        from xla_lint.cli.server import serve  # noqa: PLC0415

        return serve()
    if options.command == "explain":
        from xla_lint.cli.explain import explain  # noqa: PLC0415

        return explain(options.symbol)
    if options.command == "run":
        from xla_lint.cli.run import run  # noqa: PLC0415

        return run(options)
    if options.command == "compare":
        from xla_lint.cli.compare import compare  # noqa: PLC0415

        return compare(options)
    parser().print_help(sys.stderr)
    return WRONG_USAGE


def _write_anything(*streams: object) -> None:
    """Let characters that the terminal's encoding lacks be written as escapes."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
