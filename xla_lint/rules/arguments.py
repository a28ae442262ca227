"""What a call's arguments are known to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.values import NONE, Location, Number, Tensor, Text, options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeGuard

    from xla_lint.program.domain.events import LibraryCall
    from xla_lint.program.domain.values import Value


def is_spelled_out(node: nodes.NodeNG) -> TypeGuard[nodes.Call]:
    """Whether a node is a call that shows all of its arguments: no `*args`, no `**kwargs`."""
    if not isinstance(node, nodes.Call) or any(keyword.arg is None for keyword in node.keywords):
        return False
    return not any(isinstance(argument, nodes.Starred) for argument in node.args)


def given(value: Value | None) -> bool:
    """True where an argument is passed, and is not None."""
    return value is not None and value is not NONE


def constant(value: Value | None) -> int | float | str | None:
    """A number, boolean or text that the source states, else None."""
    return value.const if isinstance(value, (Number, Text)) else None


def stated_text(value: Value | None) -> str | None:
    """A text that the source states, else None."""
    return value.const if isinstance(value, Text) else None


def device_tensor(value: Value | None) -> Tensor | None:
    """The device tensor that a value is, or may be on some path."""
    for option in options(value) if value is not None else ():
        if isinstance(option, Tensor) and option.place is Location.DEVICE:
            return option
    return None


def device_tensors(call: LibraryCall) -> Iterator[Tensor]:
    """The device tensors that a call is given directly, not inside containers."""
    for value in (*call.args, *call.kwargs.values()):
        tensor = device_tensor(value)
        if tensor is not None:
            yield tensor
