"""The engine, so called that an error inside it never ends more than the analysis of one module."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint import __version__, engine
from xla_lint.program.depth import TOO_DEEP, room_to_recurse

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.engine import Settings
    from xla_lint.program.project import Project
    from xla_lint.rules.base import Finding

PACKAGE = Path(__file__).parent


class AnalysisError(Exception):
    """A module could not be analysed; its text is one line for the user."""


def findings_of(module: nodes.Module, project: Project, settings: Settings) -> list[Finding]:
    """What `engine.check_module` finds with every rule, advice included.

    Raises:
        AnalysisError: whatever went wrong in the engine.
    """
    try:
        with room_to_recurse():
            return engine.check_module(module, project, settings)
    except RecursionError as error:
        raise AnalysisError(TOO_DEEP) from error
    except Exception as error:
        raise AnalysisError(report(error)) from error


def report(error: Exception) -> str:
    """An internal error in one line: what, where in xla-lint, and what to do about it."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if PACKAGE in Path(frame.filename).parents] or frames
    place = f" ({Path(inside[-1].filename).name}, line {inside[-1].lineno})" if inside else ""
    text = " ".join(str(error).split())
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"internal error in xla-lint {__version__}: {what}{place}; please report this line together with the file"
