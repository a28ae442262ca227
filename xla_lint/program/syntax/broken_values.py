"""Tests that ask whether a value is broken: what stands under them runs for a program that has failed, not in steps."""

from __future__ import annotations

from astroid import nodes

from xla_lint.program.syntax.index import last_name

BROKEN = frozenset({"isnan", "isinf"})
WHOLE = frozenset({"isfinite"})
SUMMARIES = frozenset({"any", "all", "item", "bool"})
"""What makes one answer of those for each element."""


def finds_broken(node: nodes.NodeNG) -> bool | None:
    """Whether a test holds for NaN or infinity (True), or fails for them (False); None for another test."""
    if not isinstance(node, nodes.Call):
        return None
    asked = last_name(node.func)
    if asked in SUMMARIES:
        return finds_broken(node.args[0] if node.args else getattr(node.func, "expr", node.func))
    return asked in BROKEN if asked in BROKEN | WHOLE else None
