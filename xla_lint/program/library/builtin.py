"""Python's functions on values: conversions, printing, comparing, adding up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import element_of, join_all
from xla_lint.program.domain.longest import LONGEST_LENGTH, LONGEST_ROW
from xla_lint.program.domain.objects import is_drawn
from xla_lint.program.domain.values import (
    NO_TRAITS,
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN,
    Device,
    Location,
    Number,
    Sequence,
    Tensor,
    Text,
    Trait,
    Value,
    options,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.library.devices import type_of
from xla_lint.program.library.longest_rows import compares_lengths, greatest, keeps_for_each_batch, place_of_longest
from xla_lint.program.library.registry import function
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.syntax.running_maximum import kept_by

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

RANDOM = Number(traits=frozenset({Trait.RANDOM}))


def data_number(machine: Machine, *values: Value) -> Number:
    """A number read from the device here, out of these: inside loops it may be another one in each turn."""
    shared = all(tensor.shared for value in values for tensor in tensors_in(value))
    return Number(None, frozenset(machine.loops), NO_TRAITS if shared else frozenset({Trait.DATA}))


def drawn(machine: Machine) -> Number:
    """A number drawn here: inside loops it is another one in each turn."""
    return Number(None, frozenset(machine.loops), RANDOM.traits)


@function("builtins.float", "builtins.int", "builtins.bool", "builtins.complex", "builtins.round")
def convert(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A conversion to a Python number reads a tensor; `round` does not."""
    value = arguments.get(0)
    if value is None:
        return NUMBER
    spelled = dotted.removeprefix("builtins.")
    if spelled == "round" and any(isinstance(o, Tensor) for o in options(value)):
        return machine.derived(arguments.node, [value])
    if machine.read(arguments.node, arguments.node_of(0), value, How.VALUE, f"{spelled}()"):
        return data_number(machine, value)
    if is_drawn(value):
        return drawn(machine)
    if isinstance(value, Number):
        if spelled == "int" and value.const is not None and math.isfinite(value.const):
            return Number(int(value.const), value.loops, value.traits)
        return value if spelled != "bool" else Number(None, value.loops, value.traits)
    return NUMBER


@function("builtins.print")
def show(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`print` formats what it is given."""
    machine.read_each(arguments, How.FORMAT, "print", materialises=True)
    return NONE


@function("builtins.str", "builtins.repr", "builtins.format", "builtins.ascii")
def text(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`str` and its kin format a tensor."""
    spelled = dotted.removeprefix("builtins.")
    if isinstance(device := arguments.get(0), Device) and (kind := type_of(machine, device.place)) is not None:
        return Text(kind + (":0" if device.place is Location.DEVICE else ""), fact=True)
    if arguments.positional:
        machine.read(
            arguments.node, arguments.node_of(0), arguments.positional[0], How.FORMAT, spelled, materialises=True
        )
    return TEXT


@function("builtins.sorted", "builtins.max", "builtins.min")
def order(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Comparing tensors in Python reads them."""
    spelled = dotted.removeprefix("builtins.")
    values = arguments.positional
    if "key" in arguments.keywords:
        items = [machine.iterate(values[0], None, arguments.node)] if len(values) == 1 else values
        compared = [machine.call(arguments.keywords["key"], Arguments(arguments.node, [item])) for item in items]
    elif len(values) == 1:
        inside = values[0]
        single = isinstance(inside, Sequence) and inside.items is not None and len(inside.items) < 2
        compared = [] if single else [inside]
    else:
        compared = list(values)
    for value in compared:
        if machine.read(arguments.node, None, value, How.VALUE, f"{spelled}()"):
            break
    if spelled == "sorted":
        element = machine.iterate(values[0], None, arguments.node) if values else UNKNOWN
        longest = place_of_longest(machine, values[0], arguments) if values else None
        return Sequence(None, element, longest=longest)
    if len(values) == 1:
        item = machine.iterate(values[0], None, arguments.node)
        key = arguments.keywords.get("key")
        if spelled == "max" and compares_lengths(machine, values[0], key, arguments):
            return greatest(item) if key is None else LONGEST_ROW
        return item
    result = join_all(values)
    kept = kept_by(arguments.node) if spelled == "max" else None
    if kept is not None and keeps_for_each_batch(machine, values[kept : kept + 1]):
        return LONGEST_LENGTH
    if isinstance(result, Number):
        loops = frozenset(loop for v in values if isinstance(v, Number) for loop in v.loops)
        return Number(None, loops, result.traits)
    return result


@function("builtins.divmod")
def divide(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The quotient and the rest."""
    left, right = arguments.get(0) or UNKNOWN, arguments.get(1) or UNKNOWN
    parts = [machine.binary(arguments.node, op, left, right) for op in ("//", "%")]
    return Sequence(parts, join_all(parts), True)


@function("builtins.any", "builtins.all")
def decide(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`any` and `all` ask each item for its truth."""
    spelled = dotted.removeprefix("builtins.")
    items = arguments.get(0) or NONE
    if machine.read(arguments.node, arguments.node_of(0), items, How.VALUE, f"{spelled}()"):
        return data_number(machine, items)
    item = element_of(items) if isinstance(items, Sequence) else UNKNOWN
    return item if isinstance(item, Number) and Trait.FACT in item.traits else NUMBER


@function("builtins.sum")
def add_up(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`sum` adds tensors on the device and reads nothing."""
    value = arguments.get(0)
    item = machine.iterate(value, None, arguments.node) if value is not None else UNKNOWN
    tensors = [o for o in options(item) if isinstance(o, Tensor)]
    if tensors:
        return machine.derived(arguments.node, tensors)
    return NUMBER if isinstance(item, Number) else UNKNOWN


@function("builtins.abs")
def absolute(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The absolute value of a tensor is a tensor."""
    value = arguments.get(0)
    if value is not None and any(isinstance(o, Tensor) for o in options(value)):
        return machine.derived(arguments.node, [value])
    return Number(None, value.loops, value.traits) if isinstance(value, Number) else UNKNOWN


@function("builtins.pow")
def power(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`pow` is the operator `**`."""
    return machine.binary(arguments.node, "**", arguments.get(0) or UNKNOWN, arguments.get(1) or UNKNOWN)
