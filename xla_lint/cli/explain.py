"""`xla-lint explain`: a rule's page, or the list of rules."""

from __future__ import annotations

import os
import shutil
import sys

from xla_lint.cli.selection import rule_called
from xla_lint.cli.usage import UsageError
from xla_lint.pages import page
from xla_lint.rules import all_rules


def explain(name: str | None) -> int:
    """Print the page of a rule, or without a name one line for each rule, and return the exit status.

    Raises:
        UsageError: there is no such rule, or its page cannot be read.
    """
    if name is None:
        for rule in all_rules():
            print(f"{rule.code()} {rule.symbol}: {rule.page().splitlines()[0]}")
        return 0
    rule = rule_called(name)
    try:
        text = page(rule)
    except OSError as error:
        raise UsageError(f"the page of {rule.symbol} cannot be read: {error}") from error
    if sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 - only a terminal shows it
        from rich.markdown import Markdown  # noqa: PLC0415

        # `less` as git runs it: colours pass, and a page that fits the screen needs no key.
        os.environ.setdefault("LESS", "-FRX")
        console = Console()
        with console.pager(styles="less" in os.environ.get("PAGER", "less") and shutil.which("less") is not None):
            console.print(Markdown(text))
    else:
        print(text)
    return 0
