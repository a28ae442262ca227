"""Importable names as fixes write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.fixes.changes import Name

if TYPE_CHECKING:
    from xla_lint.program.backend.backend import Backend


def importable(dotted: str, backend: Backend) -> Name:
    """A function or class by its dotted name; its module goes by the alias that people give it."""
    module, _, attribute = dotted.rpartition(".")
    alias = next((alias for prefix, alias in backend.aliases if prefix == f"{module}."), None)
    return Name(module, attribute, alias.rstrip(".") if alias is not None else None)
