"""Python's builtins, and the methods of its containers and strings."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Class, Function, Generator
from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import element_of, join, join_all
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.objects import Super, differs_between_replicas, is_drawn, key_of, loader_of
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.values import (
    DEVICE_TYPES,
    FACT,
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN,
    Device,
    Instance,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    Value,
    options,
)
from xla_lint.program.domain.walk import bounded
from xla_lint.program.library.registry import function, methods_of
from xla_lint.program.machine.machine import Arguments, device_tensors

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

LARGEST = sys.maxsize // 2
"""What the bounds of a `range` may be at most to be counted."""
RANDOM = Number(traits=frozenset({Trait.RANDOM}))
DATA = Number(traits=frozenset({Trait.DATA}))
KINDS = frozenset({"builtins.dict", "builtins.tuple", "builtins.str"})
"""Types that are told apart for sure."""


def data_number(machine: Machine, value: Value) -> Number:
    """A number read from the device here: inside loops it may be another one in each turn."""
    shared = all(isinstance(o, Tensor) and o.shared for o in options(value))
    return Number(None, frozenset(machine.loops), NUMBER.traits if shared else DATA.traits)


def drawn(machine: Machine) -> Number:
    """A number drawn here: inside loops it is another one in each turn."""
    return Number(None, frozenset(machine.loops), RANDOM.traits)


@function("builtins.float", "builtins.int", "builtins.bool", "builtins.complex", "builtins.round")
def convert(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A conversion to a Python number reads a tensor; `round` keeps it one."""
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
    if isinstance(device := arguments.get(0), Device) and device.place in DEVICE_TYPES:
        return Text(DEVICE_TYPES[device.place] + (":0" if device.place is Location.DEVICE else ""), fact=True)
    if arguments.positional:
        machine.read(
            arguments.node, arguments.node_of(0), arguments.positional[0], How.FORMAT, spelled, materialises=True
        )
    return TEXT


@function("builtins.len")
def length(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A length is known without running anything."""
    value = arguments.get(0)
    traits = frozenset({Trait.SHAPE})
    if isinstance(value, Tensor):
        return Number(value.length, traits=traits)
    if isinstance(value, Sequence) and value.items is not None:
        return Number(len(value.items), traits=traits)
    if isinstance(value, Text) and value.const is not None:
        return Number(len(value.const))
    if isinstance(value, Instance):
        if value.cls is not None and isinstance(
            method := machine.attribute(value, "__len__", arguments.node), Function
        ):
            result = machine.call(method, Arguments(arguments.node, []))
            return result if isinstance(result, Number) else NUMBER
        rows = value.attributes.get("*rows")
        return rows if isinstance(rows, Number) else NUMBER
    if isinstance(value, Loader) and value.rows is not None:
        return NUMBER
    return Number(traits=traits)


@function("builtins.range")
def count(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`range` of a tensor reads it."""
    machine.read_each(arguments, How.VALUE, "range()")
    stop = arguments.positional[0] if len(arguments.positional) == 1 else span(arguments.positional)
    ranked = any(differs_between_replicas(value) for value in arguments.positional)
    return Stream(RANK if ranked else NUMBER, counted=True, stop=stop)


def span(bounds: list[Value]) -> Value | None:
    """The length of a `range` with a start; its end where that is all that can be said."""
    known = [bound.const for bound in bounds if isinstance(bound, Number) and isinstance(bound.const, int)]
    if len(known) < len(bounds) or not 1 < len(known) < 4 or known[2:] == [0] or max(map(abs, known)) > LARGEST:
        return bounds[1] if len(bounds) > 1 else None
    return Number(len(range(*known)))


@function("builtins.enumerate")
def number_items(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Each item with its number."""
    source = arguments.get(0, "iterable")
    return Stream(UNKNOWN, pieces=(Stream(NUMBER, counted=True), source if source is not None else UNKNOWN))


@function("builtins.zip", "itertools.zip_longest")
def zip_items(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Items side by side."""
    return Stream(UNKNOWN, pieces=tuple(arguments.positional)) if not arguments.unpacked else UNKNOWN


@function("builtins.iter", "itertools.islice", "itertools.cycle", "builtins.reversed", "itertools.chain")
def pass_items(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The same items, in another order or number."""
    if dotted == "itertools.chain":
        return Stream(join_all(machine.iterate(v, None, arguments.node) for v in arguments.positional))
    value = arguments.get(0)
    return Stream(UNKNOWN, source=value) if value is not None else UNKNOWN


@function("builtins.next")
def next_item(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The next item; of a wrapped loader it is a barrier."""
    value = arguments.get(0)
    if value is None:
        return UNKNOWN
    loader = loader_of(value)
    if loader is not None and loader.wrapped:
        machine.barrier(arguments.node, "next()", silent=True)
        return loader.element
    return machine.iterate(value, None, arguments.node)


@function("builtins.map", "builtins.filter")
def apply(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function applied to each item."""
    if len(arguments.positional) < 2:
        return UNKNOWN
    items = [machine.iterate(value, None, arguments.node) for value in arguments.positional[1:]]
    result = machine.call(arguments.positional[0], Arguments(arguments.node, items))
    if dotted == "builtins.filter":
        machine.read(arguments.node, None, result, How.BRANCH, "filter")
        return Stream(items[0])
    return Stream(result)


@function("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "collections.deque")
def collect(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A container of another one's items."""
    frozen = dotted == "builtins.tuple"
    value = arguments.get(0)
    if value is None:
        return Sequence([] if dotted != "collections.deque" else None, UNKNOWN, frozen)
    if isinstance(value, Sequence):
        return Sequence(value.items if value.items is None else list(value.items), element_of(value), frozen)
    return Sequence(None, machine.iterate(value, None, arguments.node), frozen)


@function("builtins.dict", "collections.OrderedDict", "collections.defaultdict")
def make_mapping(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dict; a `defaultdict` makes what is missing."""
    keywords = {key: value for key, value in arguments.keywords.items() if key != "**"}
    if dotted == "collections.defaultdict":
        factory = arguments.get(0)
        if factory is None or factory is NONE:
            return Mapping(keywords)
        return Mapping(keywords, machine.call(factory, Arguments(arguments.node, [])), factory)
    value = arguments.get(0)
    if isinstance(value, Mapping):
        return Mapping({**value.entries, **keywords}, value.element)
    entries = pairs_of(value)
    if entries is not None:
        return Mapping({**entries, **keywords})
    pair = machine.iterate(value, None, arguments.node) if isinstance(value, (Sequence, Stream)) else UNKNOWN
    if isinstance(pair, Sequence) and pair.items is not None and len(pair.items) == 2:
        return Mapping(keywords, pair.items[1])
    return Mapping(keywords, None if value is None and not arguments.unpacked else UNKNOWN)


def pairs_of(value: Value | None) -> dict[str, Value] | None:
    """The entries that a list of pairs with constant keys makes, None for anything else."""
    if not isinstance(value, Sequence) or not value.items:
        return None
    entries: dict[str, Value] = {}
    for pair in value.items:
        if not isinstance(pair, Sequence) or pair.items is None or len(pair.items) != 2:
            return None
        key, item = pair.items
        known = key_of(key)
        if known is None:
            return None
        entries[known] = item
    return entries


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
        return Sequence(None, element)
    if len(values) == 1:
        item = machine.iterate(values[0], None, arguments.node)
        repeated = bool(machine.loops) or machine.callback
        if spelled == "max" and repeated and isinstance(item, Number) and Trait.SHAPE in item.traits:
            return Number(None, item.loops, item.traits | {Trait.LONGEST})
        return item
    result = join_all(values)
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
        return DATA
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


def is_for_other_devices(kind: str) -> bool:
    """Whether a class wraps models that no XLA device holds: torch_xla has an FSDP of its own."""
    return kind.startswith("torch.distributed.fsdp.")


@function("builtins.isinstance")
def is_instance(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A test on a type reads nothing, and is known for tensors."""
    value, kinds = arguments.get(0), arguments.get(1)
    names = [k.dotted for k in (kinds.items or [] if isinstance(kinds, Sequence) else [kinds]) if isinstance(k, Name)]
    if (
        isinstance(value, Instance)
        and value.place is Location.DEVICE
        and names
        and all(map(is_for_other_devices, names))
    ):
        return Number(False, traits=FACT)
    if "torch.Tensor" in names:
        if isinstance(value, Tensor):
            return Number(True)
        if isinstance(value, (Number, Text, Sequence, Mapping)) and names == ["torch.Tensor"]:
            return Number(False)
    if isinstance(value, Tensor) and names and all(name.startswith("builtins.") for name in names):
        return Number(False)
    kind = kind_of(value)
    if kind in names:
        return Number(True)
    if kind and names and set(names) <= KINDS:
        return Number(False)
    return NUMBER


def kind_of(value: Value | None) -> str:
    """The type of a container or a string, where it can be told for sure; else empty."""
    if isinstance(value, Sequence):
        return "builtins.tuple" if value.frozen else ""
    if isinstance(value, Mapping):
        return "builtins.dict"
    return "builtins.str" if isinstance(value, Text) else ""


@function("builtins.getattr")
def get_attribute(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An attribute by its name, where the source says the name."""
    owner, name = arguments.get(0), arguments.get(1)
    if owner is not None and isinstance(name, Text) and name.const is not None:
        found = machine.attribute(owner, name.const, arguments.node)
        default = arguments.get(2)
        return found if default is None or found is UNKNOWN else join(found, default)
    return UNKNOWN


def replace_any(machine: Machine, holder: Instance, model: Instance) -> None:
    """Let a model stand in the place of any one inside another."""
    for name, held in list(holder.attributes.items()):
        if any(isinstance(option, Instance) and option.model for option in options(held)):
            machine.heap.put(holder.attributes, name, join(held, model))


@function("builtins.setattr")
def set_attribute(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Set an attribute by its name. A model under a name that is not known may replace any model inside the owner."""
    owner, name, value = arguments.get(0), arguments.get(1), arguments.get(2)
    if owner is not None and value is not None and isinstance(name, Text) and name.const is not None:
        machine.set_attribute(owner, name.const, value)
    elif isinstance(value, Instance) and value.model:
        for holder in options(owner or UNKNOWN):
            if isinstance(holder, Instance):
                replace_any(machine, holder, value)
    return NONE


@function("builtins.super")
def parent(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The next class in line."""
    owner = machine.frame.owner
    function_ = machine.frame.function
    receiver = function_.receiver if function_ is not None else None
    if owner is None or receiver is None:
        return UNKNOWN
    return Super(owner, receiver)


@function(
    "builtins.type", "builtins.id", "builtins.hash", "builtins.callable", "builtins.hasattr", "builtins.issubclass"
)
def metadata(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What is known of an object without running anything."""
    return NUMBER if dotted != "builtins.type" else Name("builtins.type")


@methods_of(Sequence)
def sequence_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Methods of lists, tuples and sets."""
    assert isinstance(receiver, Sequence)
    value = arguments.get(0)
    if name in ("append", "add", "appendleft") and value is not None:
        append(machine, receiver, value)
        return NONE
    if name in ("extend", "update", "extendleft") and value is not None:
        machine.extend(receiver, value, arguments.node)
        return NONE
    if name == "insert":
        append(machine, receiver, arguments.get(1) or UNKNOWN, first=True)
        return NONE
    if name in ("pop", "popleft"):
        if receiver.items is not None:
            machine.heap.assign(receiver, "element", element_of(receiver))
            machine.heap.assign(receiver, "items", None)
        return receiver.element
    if name == "clear":
        machine.heap.assign(receiver, "items", [])
        return NONE
    if name in ("index", "count", "remove"):
        if value is not None and (device_tensors([receiver]) or device_tensors([value])):
            machine.read(arguments.node, None, Sequence([receiver, value]), How.VALUE, f".{name}()")
        return NUMBER
    if name in ("copy", "union", "intersection", "difference"):
        return Sequence(None if receiver.items is None else list(receiver.items), element_of(receiver))
    if name in ("sort", "reverse"):
        if name == "sort":
            machine.read(arguments.node, None, receiver, How.VALUE, ".sort()")
        return NONE
    if name == "numel":
        return NUMBER
    return UNKNOWN


def append(machine: Machine, receiver: Sequence, value: Value, *, first: bool = False) -> None:
    """Add an item to a list."""
    if receiver.frozen:
        return
    value = bounded(value, receiver)
    element = (
        value
        if receiver.items == [] or (receiver.element is UNKNOWN and not receiver.items)
        else join(element_of(receiver), value)
    )
    items = receiver.items
    if items is not None and not machine.loops and len(items) < 64:
        machine.heap.assign(receiver, "items", [value, *items] if first else [*items, value])
    else:
        machine.heap.assign(receiver, "items", None)
    machine.heap.assign(receiver, "element", element)


@methods_of(Mapping)
def mapping_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Methods of dicts."""
    assert isinstance(receiver, Mapping)
    everything = [*receiver.entries.values(), *([receiver.element] if receiver.element is not None else [])]
    if name in ("values", "items"):
        values = Sequence(list(receiver.entries.values()) if receiver.element is None else None, join_all(everything))
        return values if name == "values" else Stream(UNKNOWN, pieces=(Sequence(None, TEXT), values))
    if name == "keys":
        return Sequence(None, TEXT)
    if name in ("get", "pop", "setdefault"):
        key = key_of(arguments.get(0))
        found = receiver.entries.get(key) if key is not None else None
        if name == "setdefault" and key is not None and found is None:
            machine.heap.put(receiver.entries, key, arguments.get(1) or NONE)
            return arguments.get(1) or NONE
        if found is None:
            found = receiver.element if receiver.element is not None else (arguments.get(1) or UNKNOWN)
        return found
    if name == "update":
        value = arguments.get(0)
        if isinstance(value, Mapping):
            for key_, item in value.entries.items():
                machine.heap.put(receiver.entries, key_, item)
            if value.element is not None:
                machine.heap.assign(receiver, "element", value.element)
        elif value is not None:
            machine.heap.assign(receiver, "element", UNKNOWN)
        for key_, item in arguments.keywords.items():
            machine.heap.put(receiver.entries, key_, item)
        return NONE
    if name == "copy":
        return Mapping(dict(receiver.entries), receiver.element, receiver.factory)
    if name == "to":
        return receiver
    return UNKNOWN


@methods_of(Text)
def text_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """`str.format` formats what it is given; `join` and the rest read nothing."""
    if name == "format":
        machine.read_each(arguments, How.FORMAT, "str.format")
        for value in arguments.keywords.values():
            machine.read(arguments.node, None, value, How.FORMAT, "str.format")
        return TEXT
    if name in ("split", "splitlines", "partition", "rsplit"):
        return Sequence(None, TEXT)
    assert isinstance(receiver, Text)
    head = arguments.get(0)
    if name == "startswith" and receiver.fact and receiver.const and isinstance(head, Text) and head.const:
        return Number(receiver.const.startswith(head.const), traits=FACT)
    if name in ("startswith", "endswith", "isdigit", "find", "count", "index"):
        return NUMBER
    return TEXT


@methods_of(Number)
def number_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Methods of numbers read nothing."""
    return NUMBER


@methods_of(Stream)
def stream_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Methods of iterators: progress bars among them."""
    assert isinstance(receiver, Stream)
    if name in ("set_postfix", "set_description", "set_postfix_str", "write", "update", "refresh", "close"):
        return bar_method(machine, receiver, name, arguments)
    return UNKNOWN


def bar_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value:
    """A progress bar formats what it shows."""
    if name in ("set_postfix", "set_postfix_str", "set_description"):
        for value in arguments.values():
            machine.read(arguments.node, None, value, How.FORMAT, name, materialises=False)
    return NONE


@methods_of(Generator)
def generator_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """`send` and `__next__` run the generator."""
    return machine.iterate(receiver, None, arguments.node)


@methods_of(Class)
def class_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A method that the class inherits from a library."""
    return UNKNOWN
