"""Source as a message shows it, and the line where it stands."""

from __future__ import annotations

from astroid import nodes

LONGEST = 48
"""How many characters of an expression a message shows."""
REFERENCES = (nodes.Name, nodes.Attribute, nodes.Subscript)
"""Expressions that name an object which exists already."""


def source_of(node: nodes.NodeNG) -> str:
    """An expression as a message shows it, in one line."""
    text = " ".join(node.as_string().split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def line_of(node: nodes.NodeNG) -> int:
    """The line on which pylint reports a node, counted from 1: for a function or a class, that of its name."""
    return int((node.position.lineno if node.position else node.fromlineno) or 1)
