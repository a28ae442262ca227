"""Lists, tuples, sets, dicts and texts: how they are made, and their methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import element_of, join, join_all
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.objects import as_container, key_of, keys_of
from xla_lint.program.domain.values import (
    FACT,
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN,
    Mapping,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Value,
)
from xla_lint.program.domain.walk import bounded
from xla_lint.program.library.longest_rows import place_of_longest
from xla_lint.program.library.registry import function, methods
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.syntax.index import last_name

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine


@function("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "collections.deque")
def collect(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A container of another one's items."""
    frozen = dotted == "builtins.tuple"
    value, longest = as_container(arguments.get(0)), arguments.get(1, "maxlen")
    made = frozenset(machine.loops) if longest is None and not frozen else None
    if value is None:
        return Sequence([] if dotted != "collections.deque" else None, UNKNOWN, frozen, made)
    if isinstance(value, Sequence):
        return Sequence(value.items if value.items is None else list(value.items), element_of(value), frozen, made)
    return Sequence(None, machine.iterate(value, None, arguments.node), frozen, made)


@function("builtins.dict", "collections.OrderedDict", "collections.defaultdict")
def make_mapping(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dict; a `defaultdict` makes what is missing."""
    keywords = {key: value for key, value in arguments.keywords.items() if key != "**"}
    if dotted == "collections.defaultdict":
        factory = arguments.get(0)
        if factory is None or factory is NONE:
            return Mapping(keywords)
        return Mapping(keywords, machine.call(factory, Arguments(arguments.node, [])), factory)
    value = as_container(arguments.get(0))
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


@methods(Sequence, "append", "add", "appendleft")
def append_item(machine: Machine, receiver: Sequence, name: str, arguments: Arguments) -> Value | None:
    """One more item."""
    value = arguments.get(0)
    if value is None:
        return UNKNOWN
    append(machine, receiver, value)
    return NONE


@methods(Sequence, "insert")
def insert_item(machine: Machine, receiver: Sequence, name: str, arguments: Arguments) -> Value | None:
    """One more item, somewhere."""
    append(machine, receiver, arguments.get(1) or UNKNOWN, first=True)
    return NONE


@methods(Sequence, "extend", "update", "extendleft", "__init__")
def extend_items(machine: Machine, receiver: Sequence, name: str, arguments: Arguments) -> Value | None:
    """The items of another container."""
    value = arguments.get(0)
    if value is None:
        return UNKNOWN
    machine.extend(receiver, value, arguments.node)
    return NONE


@methods(Sequence, "pop", "popleft")
def pop_item(machine: Machine, receiver: Sequence, name: str, arguments: Arguments) -> Value | None:
    """Any of the items; which ones are left is not known."""
    if receiver.items is not None:
        machine.heap.assign(receiver, "element", element_of(receiver))
        machine.heap.assign(receiver, "items", None)
    if not receiver.steady and (not machine.is_conditional or stands_under_length(arguments.node)):
        machine.heap.assign(receiver, "steady", True)
    note_change(machine, receiver)
    return receiver.element


def stands_under_length(node: nodes.NodeNG) -> bool:
    """Whether a test of some length decides that a program comes here."""
    tests = (outer.test for outer in node.node_ancestors() if isinstance(outer, (nodes.If, nodes.While)))
    return any(last_name(call.func) == "len" for test in tests for call in test.nodes_of_class(nodes.Call))


@methods(Sequence, "index", "count", "remove")
def compare_items(machine: Machine, receiver: Sequence, name: str, arguments: Arguments) -> Value | None:
    """What compares the items with a value reads tensors."""
    value = arguments.get(0)
    if value is not None and (device_tensors([receiver]) or device_tensors([value])):
        machine.read(arguments.node, None, Sequence([receiver, value]), How.VALUE, f".{name}()")
    return NUMBER


@methods(Sequence)
def sequence_method(machine: Machine, receiver: Sequence, name: str, arguments: Arguments) -> Value | None:
    """The other methods of lists, tuples and sets."""
    if name == "clear":
        machine.heap.assign(receiver, "steady", True)
        machine.heap.assign(receiver, "items", [])
        return NONE
    if name in ("copy", "union", "intersection", "difference"):
        return Sequence(None if receiver.items is None else list(receiver.items), element_of(receiver))
    if name in ("sort", "reverse"):
        if name == "sort":
            machine.read(arguments.node, None, receiver, How.VALUE, ".sort()")
        longest = place_of_longest(machine, receiver, arguments) if name == "sort" else None
        machine.heap.assign(receiver, "longest", longest)
        return NONE
    return NUMBER if name == "numel" else UNKNOWN


def note_change(machine: Machine, receiver: Sequence) -> None:
    """Note that a list which was made outside these loops has another length from turn to turn."""
    turning = frozenset(machine.loops) - (receiver.made or frozenset()) - receiver.grown
    if receiver.made is not None and turning:
        machine.heap.assign(receiver, "grown", receiver.grown | turning)


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
    note_change(machine, receiver)
    if items is not None and not machine.loops and len(items) < 64:
        machine.heap.assign(receiver, "items", [value, *items] if first else [*items, value])
    else:
        machine.heap.assign(receiver, "items", None)
    machine.heap.assign(receiver, "element", element)


@methods(Mapping, "keys", "values", "items")
def view(machine: Machine, receiver: Mapping, name: str, arguments: Arguments) -> Value | None:
    """The keys, the entries, or both side by side."""
    if name == "keys":
        return Sequence(None, keys_of(receiver))
    entries = list(receiver.entries.values())
    everything = entries if receiver.element is None else [*entries, receiver.element]
    values = Sequence(entries if receiver.element is None else None, join_all(everything))
    return values if name == "values" else Stream(UNKNOWN, pieces=(Sequence(None, keys_of(receiver)), values))


@methods(Mapping, "get", "pop", "setdefault")
def look_up(machine: Machine, receiver: Mapping, name: str, arguments: Arguments) -> Value | None:
    """An entry, or the default."""
    key = key_of(arguments.get(0))
    found = receiver.entries.get(key) if key is not None else None
    if found is not None:
        return found
    default = arguments.get(1)
    if name == "setdefault" and key is not None:
        machine.heap.put(receiver.entries, key, default or NONE)
        return default or NONE
    return receiver.element if receiver.element is not None else (default or UNKNOWN)


@methods(Mapping, "update", "__init__")
def update(machine: Machine, receiver: Mapping, name: str, arguments: Arguments) -> Value | None:
    """The entries of another dict."""
    value = as_container(arguments.get(0))
    if isinstance(value, Mapping):
        for key, item in value.entries.items():
            machine.heap.put(receiver.entries, key, item)
        if value.element is not None:
            machine.heap.assign(receiver, "element", value.element)
    elif value is not None:
        machine.heap.assign(receiver, "element", UNKNOWN)
    for key, item in arguments.keywords.items():
        machine.heap.put(receiver.entries, key, item)
    return NONE


@methods(Mapping)
def mapping_method(machine: Machine, receiver: Mapping, name: str, arguments: Arguments) -> Value | None:
    """The other methods of dicts."""
    if name == "copy":
        return Mapping(dict(receiver.entries), receiver.element, receiver.factory)
    return UNKNOWN


@methods(Mapping, "to")
def move_batch(machine: Machine, receiver: Mapping, name: str, arguments: Arguments) -> Value | None:
    """A tokenizer's batch moves its tensors, and is itself again."""
    for key, value in list(receiver.entries.items()):
        if isinstance(value, Tensor):
            machine.heap.put(receiver.entries, key, machine.method(value, name, arguments))
    if isinstance(receiver.element, Tensor):
        machine.heap.assign(receiver, "element", machine.method(receiver.element, name, arguments))
    return receiver


@methods(Text, "format")
def format_text(machine: Machine, receiver: Text, name: str, arguments: Arguments) -> Value | None:
    """`str.format` formats what it is given."""
    machine.read_each(arguments, How.FORMAT, "str.format")
    for value in arguments.keywords.values():
        machine.read(arguments.node, None, value, How.FORMAT, "str.format")
    return TEXT


@methods(Text)
def text_method(machine: Machine, receiver: Text, name: str, arguments: Arguments) -> Value | None:
    """`join` and the rest read nothing."""
    if name in ("split", "splitlines", "partition", "rsplit"):
        return Sequence(None, TEXT)
    head = arguments.get(0)
    if name == "startswith" and receiver.fact and receiver.const and isinstance(head, Text) and head.const:
        return Number(receiver.const.startswith(head.const), traits=FACT)
    return NUMBER if name in ("startswith", "endswith", "isdigit", "find", "count", "index") else TEXT


@methods(Number)
def number_method(machine: Machine, receiver: Number, name: str, arguments: Arguments) -> Value | None:
    """Methods of numbers read nothing."""
    return NUMBER
