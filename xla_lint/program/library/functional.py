"""`functools`: functions that are made of other functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Class, Function, Method
from xla_lint.program.domain.join import choose
from xla_lint.program.domain.objects import DEFAULT, SINGLE_DISPATCH
from xla_lint.program.domain.values import (
    UNKNOWN,
    Choice,
    Instance,
    Mapping,
    Name,
    Sequence,
    Tensor,
    Value,
)
from xla_lint.program.library.registry import function, methods
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine


@function("functools.partial")
def partial(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function with some arguments bound."""
    inner, *first = arguments.positional or [UNKNOWN]
    if isinstance(inner, Choice):
        node, keywords, unpacked = arguments.node, arguments.keywords, arguments.unpacked
        each = (Arguments(node, [option, *first], keywords, unpacked) for option in inner.options)
        return choose([partial(machine, dotted, given) for given in each])
    if isinstance(inner, Function) and not arguments.unpacked:
        bound = {**inner.defaults, **arguments.keywords}
        return replace(inner, leading=(*inner.leading, *first), defaults=bound)
    if not isinstance(inner, (Function, Class, Instance, Name, Method)) or arguments.unpacked:
        return inner if isinstance(inner, (Function, Class, Instance, Name)) else UNKNOWN
    bounded: dict[str, Value] = {"function": inner, "first": Sequence(first), "rest": Mapping(arguments.keywords)}
    return Instance(None, "functools.partial", bounded)


@methods("functools.partial")
def call_partial(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Call a function with some arguments bound."""
    if name != "__call__":
        return None
    first, rest = receiver.attributes["first"], receiver.attributes["rest"]
    assert isinstance(first, Sequence)
    assert isinstance(rest, Mapping)
    return machine.call(
        receiver.attributes["function"],
        Arguments(
            arguments.node,
            [*(first.items or []), *arguments.positional],
            {**rest.entries, **arguments.keywords},
            arguments.unpacked,
        ),
    )


@methods(SINGLE_DISPATCH)
def dispatch(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A tensor goes to what is registered for tensors, else to the first function; where others go is unknown."""
    first, second = arguments.get(0), arguments.get(1)
    if name == "register" and second is not None:
        kind = first.dotted if isinstance(first, Name) else "?"
        machine.heap.put(receiver.attributes, kind, second)
    elif name == "__call__" and isinstance(first, Tensor) and "?" not in receiver.attributes:
        return machine.call(receiver.attributes.get("torch.Tensor", receiver.attributes[DEFAULT]), arguments)
    return None


@function("functools.wraps", "functools.lru_cache", "functools.cache", "functools.update_wrapper")
def transparent(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A decorator that leaves the function what it is."""
    return Name("functools.identity")


@function("functools.identity")
def identity(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What it is given."""
    return arguments.get(0) or UNKNOWN
