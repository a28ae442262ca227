"""Functions of `torch`: factories, operations, modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.knowledge.operations import COMPARING_FETCHES, DRAWING_FACTORIES, FACTORIES, LIKE_FACTORIES
from xla_lint.program.domain.events import How, TableSent
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Device,
    Instance,
    Kind,
    Location,
    Number,
    Sequence,
    Tensor,
    Trait,
    Value,
    options,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.library.devices import place_named
from xla_lint.program.library.registry import function
from xla_lint.program.library.tables import is_table
from xla_lint.program.library.tensors import first_size, host_copy, in_pieces, kind_named, operation
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.costs import report_changing, report_padding
from xla_lint.program.machine.growth import Concatenation
from xla_lint.program.syntax.index import last_name
from xla_lint.program.syntax.spelling import source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.machine.machine import Machine

COMPUTING = ("torch.nn.functional.", "torch.linalg.", "torch.special.", "torch.fft.", "torchvision.ops.")
QUIET_FUNCTIONS = frozenset(
    "manual_seed seed set_default_dtype get_default_dtype is_tensor is_storage get_rng_state set_rng_state "
    "set_num_threads use_deterministic_algorithms is_floating_point is_complex iinfo finfo Generator Size "
    "set_printoptions set_float32_matmul_precision initial_seed".split()
)


RANGES = frozenset({"arange", "range", "linspace", "logspace"})
"""Factories whose values follow from the ends that they are given."""


@function(
    "torch.cuda.is_available", "torch.backends.mps.is_available", "torch.cuda.is_initialized",
    "torch.cuda.is_bf16_supported", "torch.cuda.device_count",
)  # fmt: skip
def absent(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """False, or none, on the machine of a lazy device."""
    return Number(0 if dotted.endswith("count") else False, traits=frozenset({Trait.FACT}))


@function("torch.load")
def load(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What a file holds is unknown."""
    return UNKNOWN


@function("torch.", "torch.nn.functional.")
def compute(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Any other function of torch: a factory, or an operation on its arguments."""
    if dotted.startswith("torch.utils.data."):
        return UNKNOWN
    inner = dotted.startswith(COMPUTING) or dotted.count(".") == 1
    name = dotted.rpartition(".")[2]
    if not inner or name in QUIET_FUNCTIONS or (dotted.count(".") == 1 and name[:1].isupper()):
        return _other(machine, dotted, name, arguments)
    node = arguments.node
    if dotted.count(".") == 1:
        if name in FACTORIES:
            return make(machine, name, arguments)
        if name in LIKE_FACTORIES:
            return _like(machine, arguments)
        if name in COMPARING_FETCHES or name == "is_nonzero":
            machine.read(node, None, Sequence(list(arguments.positional)), How.VALUE, f"torch.{name}()")
            return NUMBER
        if name in ("cat", "concat", "concatenate", "hstack", "vstack"):
            return concatenate(machine, name, arguments)
        if name == "stack":
            return _stack(machine, arguments)
        if name in ("numel", "result_type", "typename", "is_same_size"):
            return NUMBER
        if name == "where" and len(arguments.positional) + len(arguments.keywords) < 2:
            operation(machine, "where", [arguments.get(0) or UNKNOWN], arguments)
            return Sequence(None, machine.derived(node, arguments.positional, kind=Kind.INT), True)
    operands = list(arguments.positional)
    if not operands and "input" in arguments.keywords:
        operands = [arguments.keywords["input"]]
    if not any(True for value in arguments.values() for _ in tensors_in(value, 2)):
        machine.hand_over(arguments)
        return UNKNOWN
    result = operation(machine, name, operands, arguments)
    if name in ("frexp", "meshgrid", "broadcast_tensors") and isinstance(result, Tensor):
        return Sequence(None, result, True)
    return in_pieces(name, result)


def _other(machine: Machine, dotted: str, name: str, arguments: Arguments) -> Value:
    if dotted.startswith("torch.Tensor.") and arguments.positional:
        rest = Arguments(arguments.node, arguments.positional[1:], arguments.keywords, arguments.unpacked)
        return machine.method(arguments.positional[0], name, rest)
    if dotted.startswith("torch.autograd."):
        if name == "backward":
            machine.method(arguments.get(0) or UNKNOWN, "backward", arguments)
            return NONE
        if name == "grad":
            return Sequence(None, machine.derived(arguments.node, arguments.values(), grad=False), True)
    if dotted.startswith(("torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torch.BoolTensor")):
        return Tensor(Location.HOST)
    if name in ("is_tensor", "is_floating_point"):
        return NUMBER
    machine.hand_over(arguments)
    return Instance(None, dotted, node=arguments.node) if name[:1].isupper() else UNKNOWN


def make(machine: Machine, name: str, arguments: Arguments) -> Value:
    """A tensor made from numbers."""
    node = arguments.node
    named = place_named(arguments.keywords.get("device"), machine.backend)
    default = Device(Location.HOST) if name == "from_numpy" else machine.device
    place = named if named is not None else default.place
    sizes = arguments.positional
    length = first_size(sizes)
    if "size" in arguments.keywords:
        length = first_size([arguments.keywords["size"]])
    if name in ("arange", "linspace", "logspace", "range"):
        length = None
        position = {"arange": 0 if len(sizes) == 1 else 1}.get(name, 2)
        if position < len(sizes) and (name != "arange" or len(sizes) < 3):
            end = sizes[position]
            begin = sizes[0] if name == "arange" and len(sizes) == 2 else Number(0)
            if isinstance(end, Number) and isinstance(end.const, int) and isinstance(begin, Number) and not end.loops:
                length = end.const - int(begin.const) if begin.const is not None else None
    elif name == "randint":
        size = next((value for value in sizes if isinstance(value, Sequence)), None)
        length = first_size([size]) if size is not None else length
    elif name in ("tensor", "as_tensor", "from_numpy"):
        return _from_values(machine, name, arguments, place)
    any(report_padding(machine, node, f"{name}()", value) for value in sized(name, sizes))
    if place is Location.DEVICE:
        for value in sized(name, sizes):
            if report_changing(machine, node, f"{name}()", value, shape=True):
                break
            for tensor in device_tensors([value]):
                if name not in ("full", "normal"):
                    machine.read(node, None, tensor, How.VALUE, f"{name}()")
    kind = Kind.INT if name in ("arange", "randint", "randperm") else Kind.UNKNOWN
    kind = kind_named(arguments.keywords.get("dtype")) or kind
    certain = not any(
        isinstance(o, Device) and not o.certain for o in options(arguments.keywords.get("device") or default)
    )
    made = machine.loop if place is Location.HOST and not must_travel(name, arguments) else None
    drawn = place is Location.HOST and draws_one(name, arguments)
    return machine.tensor(node, place, length=length, kind=kind, certain=certain, made=made, drawn=drawn)


def must_travel(name: str, arguments: Arguments) -> bool:
    """Whether a factory's result belongs on the host: it holds a host value, or the host is named in the call.

    On the device the ends of a range are constants of the graph, which is compiled anew for other ones.
    """
    if "generator" in arguments.keywords or "device" in arguments.keywords:
        return True
    if name in RANGES and any(isinstance(end, Number) and end.loops for end in arguments.values()):
        return True
    fill = arguments.get(1, "fill_value") if name == "full" else None
    return fill is not None and not (isinstance(fill, Number) and fill.const is not None and not fill.loops)


def draws_one(name: str, arguments: Arguments) -> bool:
    """Whether a factory draws one random number, to decide something by; many are data."""
    if name not in DRAWING_FACTORIES:
        return False
    given = arguments.keywords.get("size")
    sizes = [given] if given is not None else sized(name, arguments.positional)
    numbers = [item for size in sizes for item in ((size.items or []) if isinstance(size, Sequence) else [size])]
    known = all(not isinstance(size, Sequence) or size.items is not None for size in sizes)
    return known and all(isinstance(number, Number) and number.const == 1 for number in numbers)


def sized(name: str, sizes: list[Value]) -> list[Value]:
    """The positional arguments of a factory that set its shape: fills and bounds are sent as data."""
    if name in ("full", "linspace", "logspace"):
        return sizes[:1] if name == "full" else sizes[2:3]
    if name in ("randint", "normal"):
        return [value for value in sizes if isinstance(value, Sequence)]
    return sizes


def _from_values(machine: Machine, name: str, arguments: Arguments, place: Location) -> Value:
    data = arguments.get(0, "data")
    node = arguments.node
    length = len(data.items) if isinstance(data, Sequence) and data.items is not None else None
    if isinstance(data, Sequence) and device_tensors([data]):
        machine.read(node, None, data, How.VALUE, f"torch.{name}()")
    elif isinstance(data, Tensor):
        if place is Location.HOST and "device" in arguments.keywords:
            machine.read(node, None, data, How.VALUE, f"torch.{name}()", materialises=True)
            return host_copy(data)
        return machine.derived(node, [data], kind=data.kind, length=data.length)
    table = is_table(machine, data, node, array=name == "from_numpy")
    if place is Location.DEVICE:
        if table:
            machine.emit(TableSent(node, machine.context, machine.loop))
        return Tensor(Location.DEVICE, line=int(node.lineno or 0), home=machine.module, length=length)
    made = machine.loop if place is Location.HOST and (table or is_constant(data)) else None
    return Tensor(place, length=length, line=int(node.lineno or 0), home=machine.module, made=made)


def is_constant(data: Value | None) -> bool:
    """True for a number that the source states, and for lists of such numbers."""
    if isinstance(data, Sequence):
        return all(is_constant(item) for item in (data.items if data.items is not None else [data.element]))
    return isinstance(data, Number) and data.const is not None and not data.loops


def _like(machine: Machine, arguments: Arguments) -> Value:
    given = options(arguments.get(0, "input") or UNKNOWN)
    dtype = arguments.keywords.get("dtype")
    named = place_named(arguments.keywords.get("device"), machine.backend)
    models = [option for option in given if isinstance(option, Tensor)]
    if not models:
        return machine.tensor(arguments.node, named) if named is not None else UNKNOWN
    return join_all(
        machine.tensor(
            arguments.node,
            named or model.place,
            length=model.length,
            kind=kind_named(dtype) or model.kind,
            certain=model.certain,
        )
        for model in models
    )


def concatenate(machine: Machine, name: str, arguments: Arguments) -> Value:
    """A concatenation; it may grow a tensor that comes round again."""
    node = arguments.node
    parts = arguments.get(0, "tensors") or UNKNOWN
    items = parts.items if isinstance(parts, Sequence) and parts.items is not None else None
    tensors = list(tensors_in(parts, 2))
    dim = arguments.get(1, "dim")
    lengths = [t.length for t in tensors]
    length = None
    if isinstance(dim, Number) and dim.const not in (None, 0):
        length = lengths[0] if lengths else None
    elif items is not None and len(lengths) == len(items):
        known = [size for size in lengths if size is not None]
        length = sum(known) if len(known) == len(lengths) else None
    result = machine.derived(node, [parts], kind=tensors[0].kind if tensors else Kind.UNKNOWN, length=length)
    if machine.loops and items is not None and len(items) > 1 and result.place is Location.DEVICE:
        operands = [t for item in [*items, *reordered(machine, node)] for o in options(item) for t in tensors_in(o, 1)]
        earlier = machine.growth.concatenations.get(node)
        if earlier is not None:
            operands = [*earlier.operands, *operands]
        machine.growth.concatenations[node] = Concatenation(tuple(operands), source_of(node), machine.context)
        result = result.like(sites=result.sites | {node})
    return result


def reordered(machine: Machine, node: nodes.NodeNG) -> Iterator[Value]:
    """What the operands of a concatenation are taken from, row by row: `x` of `torch.cat([x[rows], new])`."""
    given = node.args[0] if isinstance(node, nodes.Call) and node.args else None
    for part in given.elts if isinstance(given, (nodes.List, nodes.Tuple)) else ():
        if isinstance(part, nodes.Subscript) and not isinstance(part.slice, (nodes.Slice, nodes.Tuple)):
            if isinstance(machine.quietly(part.slice), Tensor):
                yield machine.quietly(part.value)
        elif isinstance(part, nodes.Call) and last_name(part.func) in ("index_select", "gather"):
            yield machine.quietly(part.func.expr if isinstance(part.func, nodes.Attribute) else part.args[0])


def _stack(machine: Machine, arguments: Arguments) -> Value:
    parts = arguments.get(0, "tensors") or UNKNOWN
    tensors = list(tensors_in(parts, 2))
    dim = arguments.get(1, "dim")
    if isinstance(dim, Number) and dim.const not in (None, 0):
        length = tensors[0].length if tensors else None
    else:
        length = len(parts.items) if isinstance(parts, Sequence) and parts.items is not None else None
    kind = tensors[0].kind if tensors else Kind.UNKNOWN
    if not tensors:
        return UNKNOWN
    return machine.derived(arguments.node, [parts], kind=kind, length=length)
