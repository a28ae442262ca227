"""The cells of a notebook that a process runs: what they are called, and their text, which no file holds."""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

from xla_lint.runtime.exchange import Source

if TYPE_CHECKING:
    from collections.abc import Iterable


def cells(files: Iterable[str]) -> dict[str, Source]:
    """Those of these files that are cells of IPython, which keeps their text where tracebacks find it."""
    compiler = _compiler()
    found: dict[str, Source] = {}
    for file in dict.fromkeys(files):
        if compiler is None or file in found:
            continue
        kind, name = compiler.format_code_name(file) or ("", "")
        if kind == "Cell":
            found[file] = Source(name, "".join(linecache.getlines(file)))
    return found


def _compiler() -> Any:
    """What compiles the cells of this process; None outside IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(shell, "compile", None)
