"""Which source line will stall a PyTorch/XLA program: a pylint plugin and a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pylint.lint import PyLinter

__version__ = "0.1.0"


def register(linter: PyLinter) -> None:
    """Called by pylint when it loads the plugin.

    The worker processes of pylint 4.0 load it a second time into a linter that has its checker already.
    """
    from xla_lint.plugin import XlaChecker  # noqa: PLC0415 - importing xla_lint stays cheap

    if XlaChecker.name not in linter.get_checker_names():
        linter.register_checker(XlaChecker(linter))


def load_configuration(linter: PyLinter) -> None:
    """Called by pylint once it has read its options, and before it reads the modules.

    Raises:
        SystemExit: an option's value will not do; the status is pylint's for wrong usage, 32.
    """
    from xla_lint.plugin import prepare  # noqa: PLC0415

    prepare(linter)
