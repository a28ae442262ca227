"""The command line: every command with its options.

Nothing of the analysis is imported here, so that help and mistakes are told at once.
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint import __version__

SCOPES = ("auto", "all")
TARGETS = ("torch_neuron", "torch_tpu", "torch_xla")
SUCCESSORS = ("torch_neuron", "torch_tpu")
FORMATS = ("text", "concise", "grouped", "statistics", "json", "github", "gitlab", "junit", "sarif")
WHICH = "rules by symbol, family or severity, or a level of confidence; several with commas"
COMMANDS = ("check", "fix", "run", "compare", "explain")
PROGRAMS = (".py", ".ipynb")
"""How the names of files end that people give instead of a command."""
if TYPE_CHECKING:
    from collections.abc import Sequence

    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """What the command line asks for.

    Raises:
        SystemExit: after `--help` and `--version` (0), and where it will not do (2).
    """
    found = parser()
    first = arguments[0] if arguments else ""
    if first.endswith(PROGRAMS) or (first not in COMMANDS and Path(first).exists() and first):
        import shlex  # noqa: PLC0415 - only a mistake needs it

        found.error(f"'{first}' is no command; to check it: xla-lint check {shlex.quote(first)}")
    return found.parse_args(arguments)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    found = argparse.ArgumentParser(
        prog="xla-lint", description="Says which source line will stall a PyTorch/XLA program, before it runs."
    )
    found.add_argument("--version", action="version", version=f"xla-lint {__version__}")
    commands = found.add_subparsers(dest="command", metavar="COMMAND")
    _add_check(commands)
    _add_fix(commands)
    _add_migrate(commands)
    _add_run(commands)
    _add_compare(commands)
    explain = commands.add_parser("explain", help="print a rule's page", description="Print a rule's page.")
    explain.add_argument("symbol", nargs="?", metavar="SYMBOL", help="the rule; without it, every rule is listed")
    commands.add_parser(
        "server",
        help="serve an editor",
        description="Serve an editor: a language server on standard input and output. It needs 'xla-lint[server]'.",
    )
    return found


def _add_check(commands: _Commands) -> None:
    check = commands.add_parser(
        "check",
        usage="xla-lint check [OPTION ...] PATH ...",
        help="check files and folders",
        description="Check files, and the Python files below folders.",
        epilog="Exit status: 0 nothing found, 1 findings, 2 wrong usage or a file that could not be checked.",
    )
    check.add_argument("paths", nargs="+", type=_path, metavar="PATH", help="a file, a folder, or - for standard input")
    _add_choice(check.add_argument_group("what is checked for"))
    _add_acceptance(check.add_argument_group("what is known already"))
    _add_output(check.add_argument_group("what is written"))
    check.add_argument("-j", "--jobs", type=_count, default=0, metavar="N", help="processes (default: one a processor)")
    check.add_argument("--no-cache", action="store_true", help="neither use nor keep results of earlier runs")
    check.add_argument("--cache-dir", type=Path, metavar="PATH", help="where results are kept")
    check.add_argument("--stdin-filename", type=_name, metavar="PATH", help="the name of what standard input holds")


def _add_fix(commands: _Commands) -> None:
    fix = commands.add_parser(
        "fix",
        usage="xla-lint fix [OPTION ...] PATH ...",
        help="make the changes that findings call for",
        description="Change files so that those of their findings are gone that have one right answer.",
        epilog="Exit status: 0 done, 1 with --diff where something can be fixed, 2 wrong usage or a file left alone.",
    )
    fix.add_argument("paths", nargs="+", type=_path, metavar="PATH", help="a file or a folder")
    fix.add_argument("--diff", action="store_true", help="change nothing, and print what would change as a patch")
    fix.add_argument("--unsafe", action="store_true", help="also make changes that may change results")
    _add_choice(fix.add_argument_group("what is fixed"))
    fix.set_defaults(fail_on=[], baseline=None)


def _add_migrate(commands: _Commands) -> None:
    migrate = commands.add_parser(
        "migrate",
        usage="xla-lint migrate --to BACKEND [OPTION ...] PATH ...",
        help="plan the move of a program to TorchTPU or TorchNeuron",
        description="Say of each use of torch_xla what becomes of it, file by file, and what is to be decided.",
        epilog="Exit status: 0 the plan is complete, 2 wrong usage or a file that could not be read.",
    )
    migrate.add_argument(
        "--to", required=True, type=_successor, choices=SUCCESSORS, help="the backend that the program moves to"
    )
    migrate.add_argument("paths", nargs="+", type=_path, metavar="PATH", help="a file or a folder")
    migrate.add_argument("--format", choices=("text", "json", "html"), default="text", help="default: text")
    migrate.add_argument("--output-file", metavar="FILE", help="write the plan to a file, not to standard output")
    migrate.add_argument(
        "--exclude", action="extend", type=_names, default=[], metavar="PATTERN", help="leave paths out, as .gitignore"
    )
    migrate.set_defaults(
        select=[], switches=[], xla_scope=None, xla_target=None, xla_target_version=None, fail_on=[], baseline=None
    )


def _add_choice(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--select", action="extend", type=_some_names, default=[], metavar="WHICH", help=f"report {WHICH}"
    )
    switches = {"enable": "report these too", "disable": "the same as --ignore", "ignore": "leave these out"}
    for name, meaning in switches.items():
        group.add_argument(
            f"--{name}",
            action="extend",
            dest="switches",
            type=functools.partial(_switches, on=name == "enable"),
            default=[],
            metavar="WHICH",
            help=meaning,
        )
    group.add_argument(
        "--exclude", action="extend", type=_names, default=[], metavar="PATTERN", help="leave paths out, as .gitignore"
    )
    group.add_argument(
        "--xla-scope",
        choices=SCOPES,
        help="check the modules of an XLA program (auto, the default), or every module that uses torch (all)",
    )
    group.add_argument(
        "--xla-target",
        choices=TARGETS,
        help="the backend that the code is for (default: what each program says; one may be for several)",
    )
    group.add_argument(
        "--xla-target-version",
        metavar="X.Y",
        help="the torch_xla release that the code must run on (default: what the project declares, else the newest)",
    )


def _add_acceptance(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--baseline", type=Path, metavar="FILE", help="report what this file does not name as known and accepted"
    )
    group.add_argument("--write-baseline", action="store_true", help="accept what is found: write it to the baseline")
    group.add_argument(
        "--diff-base", metavar="REV", help="report what was not there at this revision of git, wherever it stands"
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--format", choices=FORMATS, default="text", help="how findings are written (default: text)")
    group.add_argument("--output-file", metavar="FILE", help="write the findings to a file, not to standard output")
    group.add_argument("-q", "--quiet", action="store_true", help="findings and problems alone: no notes, no summary")
    group.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also tell why each finding holds, and where a program was not followed further",
    )
    group.add_argument(
        "--sort",
        choices=("place", "cost"),
        default="place",
        help="by file and line (default), or the dearest first",
    )
    group.add_argument(
        "--fail-on",
        action="extend",
        type=_some_names,
        default=[],
        metavar="WHICH",
        help="only these findings give status 1",
    )
    group.add_argument("--exit-zero", action="store_true", help="give status 0 whatever is found")


def _add_run(commands: _Commands) -> None:
    run = commands.add_parser(
        "run",
        usage="xla-lint run [OPTION ...] (SCRIPT | -m MODULE) [ARGUMENT ...]",
        help="run a program and say which lines compiled, executed and read",
        description="Run a program unchanged, and say at its end which of its lines compiled, executed and read.",
        epilog="Exit status: the program's own; 3 where it ended well and a limit was broken.",
    )
    run.add_argument("--max-compiles", type=_count, metavar="N", help="break a limit if more is compiled once warm")
    run.add_argument(
        "--max-executions-per-step", type=float, metavar="X", help="break a limit if more is executed once warm"
    )
    run.add_argument("--max-reads-per-step", type=float, metavar="X", help="break a limit if more is read once warm")
    run.add_argument("--warmup", type=_count, default=3, metavar="K", help="the steps until it is warm (default: 3)")
    run.add_argument("--fail-on-fallback", action="store_true", help="break a limit if an operation ran on the CPU")
    run.add_argument("--check", type=Path, metavar="FILE", help="break a limit if this file of budgets allows less")
    run.add_argument("--update", action="store_true", help="write what the run cost to the file that --check names")
    for name in ("json", "html", "markdown"):
        run.add_argument(f"--{name}", metavar="FILE", help=f"also write the report as {name.upper()}")
    run.add_argument("--junit", metavar="FILE", help="also write which limits held, a test case each, as JUnit's XML")
    run.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run a module")
    run.add_argument("program", nargs=argparse.REMAINDER, metavar="SCRIPT", help="the script and its arguments")


def _add_compare(commands: _Commands) -> None:
    compare = commands.add_parser(
        "compare",
        help="run programs and compare what the linter says of their lines with what the runtime records",
        description="Run programs, and compare what the linter says of their lines with what the runtime records.",
        epilog="Exit status: 0 they agree, 1 they disagree on a line or a program failed, 2 wrong usage.",
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


def _successor(text: str) -> str:
    return f"torch_{text}" if f"torch_{text}" in SUCCESSORS else text


def _path(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a path is empty; name the current folder by .")
    return text


def _name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a name is empty; leave the option out for text that has none")
    return text


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 0 on")
    return int(text)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _some_names(text: str) -> list[str]:
    found = _names(text)
    if not found:
        raise argparse.ArgumentTypeError("nothing is named; leave the option out to have what is usual")
    return found


def _switches(text: str, *, on: bool) -> list[tuple[str, bool]]:
    return [(name, on) for name in _names(text)]
