"""The command line: what was asked for, and the exit status.

Only what every call needs is imported here; each command imports the rest when it runs.
"""

from __future__ import annotations

import argparse
import functools
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint import __version__
from xla_lint.cli.usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

WRONG_USAGE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
SCOPES = ("auto", "all")
FORMATS = ("text", "json", "github")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0: nothing found; 1: findings; 2: wrong usage, or a file that could not be checked; 130: interrupted.

    Raises:
        SystemExit: from argparse, after `--help` and `--version` (0) and for unknown options (2).
    """
    parser = _parser()
    options = parser.parse_args(argv)
    _write_anything(sys.stdout, sys.stderr)
    try:
        status = _run(parser, options)
        sys.stdout.flush()
    except UsageError as error:
        print(f"xla-lint: error: {error}", file=sys.stderr)
        return WRONG_USAGE
    except KeyboardInterrupt:
        print("xla-lint: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has had enough. The interpreter flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return status


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.command == "check":
        from xla_lint.cli.check import check  # noqa: PLC0415

        return check(options)
    if options.command == "explain":
        from xla_lint.cli.explain import explain  # noqa: PLC0415

        return explain(options.symbol)
    if options.command == "run":
        from xla_lint.cli.run import run  # noqa: PLC0415

        return run(options)
    if options.command == "compare":
        from xla_lint.cli.compare import compare  # noqa: PLC0415

        return compare(options)
    parser.print_help(sys.stderr)
    return WRONG_USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xla-lint", description="Says which source line will stall a PyTorch/XLA program, before it runs."
    )
    parser.add_argument("--version", action="version", version=f"xla-lint {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    check = commands.add_parser(
        "check",
        help="check files and folders",
        description="Check files, and the Python files below folders.",
        epilog="Exit status: 0 nothing found, 1 findings, 2 wrong usage or a file that could not be checked.",
    )
    check.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, or - for standard input")
    check.add_argument("--format", choices=FORMATS, default="text", help="how findings are written (default: text)")
    check.add_argument(
        "--xla-scope",
        choices=SCOPES,
        help="check the modules of an XLA program (auto, the default), or every module that uses torch (all)",
    )
    check.add_argument(
        "--xla-target-version",
        metavar="X.Y",
        help="the torch_xla release that the code must run on (default: what the project declares, else the newest)",
    )
    for name in ("enable", "disable"):
        check.add_argument(
            f"--{name}",
            action="extend",
            dest="switches",
            type=functools.partial(_switches, on=name == "enable"),
            default=[],
            metavar="SYMBOL",
            help=f"{name} a rule; several with commas, or 'all'",
        )
    check.add_argument(
        "-j", "--jobs", type=_natural, default=0, metavar="N", help="use N processes at most (default: one a processor)"
    )
    check.add_argument(
        "-v", "--verbose", action="store_true", help="also tell where a program was not followed further, and why"
    )
    check.add_argument("--no-cache", action="store_true", help="neither use nor keep results of earlier runs")
    check.add_argument("--cache-dir", type=Path, metavar="PATH", help="where results are kept")
    check.add_argument("--stdin-filename", metavar="PATH", help="the name of the file that standard input holds")

    _add_run(commands)
    _add_compare(commands)

    explain = commands.add_parser("explain", help="print a rule's page", description="Print a rule's page.")
    explain.add_argument("symbol", nargs="?", metavar="SYMBOL", help="the rule; without it, every rule is listed")
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser(
        "run",
        usage="xla-lint run [OPTION ...] (SCRIPT | -m MODULE) [ARGUMENT ...]",
        help="run a program and say which lines compiled, executed and read",
        description="Run a program unchanged, and say at its end which of its lines compiled, executed and read.",
        epilog="Exit status: the program's own; 3 where it ended well and a limit was broken.",
    )
    run.add_argument("--max-compiles", type=_natural, metavar="N", help="break a limit if more is compiled once warm")
    run.add_argument(
        "--max-executions-per-step", type=float, metavar="X", help="break a limit if more is executed once warm"
    )
    run.add_argument("--warmup", type=_natural, default=3, metavar="K", help="the steps until it is warm (default: 3)")
    run.add_argument("--fail-on-fallback", action="store_true", help="break a limit if an operation ran on the CPU")
    for name in ("json", "html", "markdown"):
        run.add_argument(f"--{name}", metavar="FILE", help=f"also write the report as {name.upper()}")
    run.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run a module")
    run.add_argument("program", nargs=argparse.REMAINDER, metavar="SCRIPT", help="the script and its arguments")


def _add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    compare = commands.add_parser(
        "compare",
        help="run programs and compare what the linter says of their lines with what the runtime records",
        description="Run programs, and compare what the linter says of their lines with what the runtime records.",
        epilog="Exit status: 0 they agree, 1 they disagree on a line, 2 wrong usage.",
    )
    compare.add_argument(
        "runs", nargs="+", metavar="SCRIPT", help="a script, in quotes with its arguments, or a report kept by --keep"
    )
    compare.add_argument(
        "--time-limit", type=float, default=300.0, metavar="S", help="end a script after S seconds (default: 300)"
    )
    compare.add_argument("--keep", metavar="FOLDER", help="keep what was recorded: comparing it again needs no torch")
    for name in ("json", "markdown"):
        compare.add_argument(f"--{name}", metavar="FILE", help=f"also write the table as {name.upper()}")


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _switches(names: str, *, on: bool) -> list[tuple[str, bool]]:
    """The rules that one `--enable` or `--disable` names."""
    return [(name.strip(), on) for name in names.split(",") if name.strip()]


def _write_anything(*streams: object) -> None:
    """Let characters that the terminal's encoding lacks be written as escapes."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
