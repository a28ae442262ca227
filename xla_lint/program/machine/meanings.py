"""Who knows what a kind of node, or an operation on a kind of value, means: the tables that the handlers fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.values import Value

Handler = TypeVar("Handler", bound=Callable[..., Any])
Table = dict[type, Callable[..., Any]]

STATEMENTS: Table = {}
"""By kind of statement: `(machine, node)` runs it."""
EXPRESSIONS: Table = {}
"""By kind of expression: `(machine, node)` gives its value."""
TARGETS: Table = {}
"""By kind of target: `(machine, target, value)` assigns to it."""
CALLS: Table = {}
"""By kind of value: `(machine, callee, arguments)` gives what calling it gives."""
ATTRIBUTES: Table = {}
"""By kind of value: `(machine, value, name, node)` gives its attribute."""
ITERATIONS: Table = {}
"""By kind of value: `(machine, value, loop, node)` gives what iterating it yields."""


def statement(*kinds: type[nodes.NodeNG]) -> Callable[[Handler], Handler]:
    """Register what statements of these kinds do."""
    return _into(STATEMENTS, kinds)


def expression(*kinds: type[nodes.NodeNG]) -> Callable[[Handler], Handler]:
    """Register what expressions of these kinds give."""
    return _into(EXPRESSIONS, kinds)


def assigning(*kinds: type[nodes.NodeNG]) -> Callable[[Handler], Handler]:
    """Register what assigning to targets of these kinds does."""
    return _into(TARGETS, kinds)


def calling(*kinds: type[Value]) -> Callable[[Handler], Handler]:
    """Register what calling values of these kinds gives."""
    return _into(CALLS, kinds)


def attributes_of(*kinds: type[Value]) -> Callable[[Handler], Handler]:
    """Register what the attributes of values of these kinds are."""
    return _into(ATTRIBUTES, kinds)


def iterating(*kinds: type[Value]) -> Callable[[Handler], Handler]:
    """Register what iterating values of these kinds yields."""
    return _into(ITERATIONS, kinds)


def _into(table: Table, kinds: tuple[type, ...]) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for kind in kinds:
            if kind in table:
                raise ValueError(f"what {kind.__name__} means is told twice")
            table[kind] = handler
        return handler

    return register
