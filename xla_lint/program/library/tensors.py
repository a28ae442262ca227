"""Methods of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.knowledge.operations import (
    BAKED_ARGUMENTS,
    BOOLEAN,
    COMPARING_FETCHES,
    DATA_SHAPES,
    DRAWING_OPERATIONS,
    ELEMENTWISE,
    FETCHES,
    INTEGER,
    MATERIALISING_FETCHES,
    METADATA_METHODS,
    NEW_FACTORIES,
    PASSING,
    SHARING,
    SIZES_FROM_ARGUMENTS,
    UNDIFFERENTIABLE,
)
from xla_lint.program.domain.events import Backward, DataShape, How, Transfer
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.objects import is_drawn, model_on_device
from xla_lint.program.domain.state import Gradients
from xla_lint.program.domain.values import (
    FETCHED,
    MATERIALISED,
    NO_PARTS,
    NONE,
    NUMBER,
    SHAPE,
    TEXT,
    UNKNOWN,
    Device,
    Kind,
    Location,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Value,
)
from xla_lint.program.library.autograd import run_hooks
from xla_lint.program.library.builtin import data_number, drawn
from xla_lint.program.library.devices import is_device, place_named
from xla_lint.program.library.registry import methods
from xla_lint.program.machine.costs import report_changing, report_padding
from xla_lint.program.machine.host_parts import use_on_host, want_on_device
from xla_lint.program.syntax.uses import MODEL_METHODS

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

NOT_SIZES = frozenset({"value", "fill_value", "mode", "dtype", "device", "input"})
"""Keywords of operations that take sizes which are no sizes themselves."""
KIND_NAMES = {"bool": Kind.BOOL, "long": Kind.INT, "int": Kind.INT, "int64": Kind.INT, "int32": Kind.INT}


def subject_of(arguments: Arguments) -> nodes.NodeNG | None:
    """The expression whose method is called."""
    return getattr(getattr(arguments.node, "func", None), "expr", None)


@methods(Tensor, *METADATA_METHODS)
def metadata(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """What is known without running anything."""
    if name != "size":
        return SHAPE
    dim = arguments.get(0, "dim")
    if dim is None:
        return Sequence(None, SHAPE, True)
    return Number(receiver.length if isinstance(dim, Number) and dim.const == 0 else None, traits=SHAPE.traits)


@methods(Tensor, *FETCHES)
def fetch(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """One number is fetched."""
    read = machine.read(arguments.node, subject_of(arguments), receiver, How.VALUE, f".{name}()")
    return data_number(machine, receiver) if read else drawn(machine) if is_drawn(receiver) else NUMBER


@methods(Tensor, *MATERIALISING_FETCHES)
def fetch_all(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """The whole tensor is fetched, and stays materialised."""
    subject = subject_of(arguments)
    read = machine.read(arguments.node, subject, receiver, How.VALUE, f".{name}()", materialises=True)
    if name == "cpu":
        return host_copy(receiver)
    return Sequence(None, data_number(machine, receiver) if read else NUMBER)


@methods(Tensor, *COMPARING_FETCHES)
def compare(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """The answer about two tensors is fetched."""
    compared = Sequence([receiver, *arguments.positional])
    machine.read(arguments.node, subject_of(arguments), compared, How.VALUE, f".{name}()")
    return NUMBER


@methods(Tensor, "numpy")
def to_numpy(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """An array; of a device tensor only by force."""
    forced = arguments.keywords.get("force")
    if isinstance(forced, Number) and forced.const:
        subject = subject_of(arguments)
        machine.read(arguments.node, subject, receiver, How.VALUE, ".numpy(force=True)", materialises=True)
    use_on_host(machine, receiver)
    return UNKNOWN


@methods(Tensor, "keys", "items", "values", "get", "pop")
def part(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """Parts of an output of unknown structure; of a plain tensor, an operation."""
    if not receiver.unstructured:
        return operation(machine, name, [receiver, *arguments.positional], arguments, receiver)
    item = receiver.like(length=None)
    keys = Stream(TEXT)
    views = {"keys": keys, "items": Stream(UNKNOWN, pieces=(keys, Stream(item))), "values": Stream(item)}
    return views.get(name, item)


@methods(Tensor, "retain_grad", "share_memory_", "set_")
def nothing(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """What neither computes nor reads."""
    return NONE


@methods(Tensor, *SHARING)
def share(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """Another tensor in the same memory."""
    if receiver.undecided and name in MODEL_METHODS:
        return method_of_model(machine, receiver, name, arguments)
    if name.startswith("detach"):
        return receiver.alias(grad=False, sites=receiver.sites.difference(machine.growth.totals))
    return receiver.alias(grad=receiver.grad)


@methods(Tensor, *(MODEL_METHODS - SHARING))
def method_of_model(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """What may be a model is one, where it is used as one."""
    if receiver.undecided:
        return machine.method(model_on_device(receiver), name, arguments)
    return operation(machine, name, [receiver, *arguments.positional], arguments, receiver)


FETCHING_IN_PLACE = frozenset(
    {"add", "addcdiv", "addcmul", "copy", "div", "floor_divide", "logical_and", "logical_or", "mul", "pow", "sub"}
)
"""The operations that a tensor of the host does in place with tensors of the device, each seen to fetch them
(torch_xla 2.9.0)."""
RUNNING = frozenset(
    {"decode", "encode", "encode_image", "encode_text", "forward", "generate", "get_image_features",
     "get_text_features", "predict", "sample"}
)  # fmt: skip
"""Methods of models that tensors do not have."""
PIECES = frozenset(
    {"chunk", "dsplit", "hsplit", "split", "tensor_split", "unbind", "unsafe_chunk", "unsafe_split", "vsplit"}
)
"""The operations that give a tuple of tensors."""


@methods(Tensor)
def tensor_method(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """Any other method is an operation; of what may be a model, it gives what a model gives."""
    result = operation(machine, name, [receiver, *arguments.positional], arguments, receiver)
    runs = receiver.undecided and name in RUNNING and isinstance(result, Tensor)
    return result.like(unstructured=True) if runs and isinstance(result, Tensor) else in_pieces(name, result)


def in_pieces(name: str, result: Value) -> Value:
    """The result of an operation: a tuple of tensors, where it takes a tensor apart."""
    return Sequence(None, result, True) if name in PIECES and isinstance(result, Tensor) else result


@methods(type(UNKNOWN), "to")
def move_unknown(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Something that is not known at all is moved to the device: a model, if its use shows it, else a tensor."""
    if not is_device(arguments.get(0, "device"), machine.backend):
        return None
    line = int(arguments.node.lineno or 0)
    return Tensor(Location.DEVICE, line=line, unstructured=True, certain=False, undecided=True)


@methods(type(UNKNOWN), "backward")
def backward_of_unknown(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """The backward pass of something that is not known: it may cut the graph, but a loss reduces no gradients."""
    if arguments.positional:
        return None
    machine.emit(Backward(arguments.node, machine.context, None))
    gradients = machine.here.gradients
    machine.opaque()
    machine.here.gradients = gradients if gradients.computed and not gradients.reduced else Gradients(computed=True)
    return NONE


def operation(
    machine: Machine, name: str, operands: list[Value], arguments: Arguments, receiver: Tensor | None = None
) -> Value:
    """The result of an operation on tensors, given as a method or as a function of `torch`."""
    node = arguments.node
    in_place = name.endswith("_") and not name.endswith("__")
    plain = name.rstrip("_") if in_place else name
    everything = [*operands, *arguments.keywords.values()]
    tensors = device_tensors(everything)
    on_device = bool(tensors)
    numbers = operands[1:]
    if (plain in DATA_SHAPES or is_data_shaped(plain, numbers, arguments)) and on_device:
        machine.emit(DataShape(node, machine.context, f"{plain}()"))
    elif on_device and plain in machine.backend.fetching:
        machine.emit(DataShape(node, machine.context, f"{plain}()", inside=True))
    if plain in ("pad", "new_zeros", "new_full", "new_ones"):
        any(report_padding(machine, node, f"{plain}()", number) for number in numbers[:1])
    if on_device:
        if in_place and machine.loop is not None:
            machine.loop.note_change()
        _report_numbers(machine, plain, numbers, arguments)
        if in_place and plain in FETCHING_IN_PLACE and receiver is not None and receiver.place is Location.HOST:
            first = next(iter(getattr(node, "args", ())), None)
            result = read_into(machine, node, first, receiver, Sequence(operands[1:]), f".{name}()")
            machine.rebind(subject_of(arguments), receiver, result)
            return result
    if plain in NEW_FACTORIES and receiver is not None:
        place = place_named(arguments.keywords.get("device"), machine.backend) or receiver.place
        return machine.tensor(node, place, length=first_size(numbers), certain=receiver.certain)
    first = next((o for o in operands if isinstance(o, Tensor)), None)
    result = machine.derived(
        node,
        everything,
        kind=kind_of(plain, first),
        length=first.length if first is not None and plain in ELEMENTWISE else None,
        grad=machine.here.grad and plain not in UNDIFFERENTIABLE and any(t.grad for t in tensors),
        unstructured=plain in ("max", "min") and bool(arguments.positional or arguments.keywords),
        sites=first.sites if first is not None and plain in PASSING else frozenset(),
    )
    if plain in DRAWING_OPERATIONS and result.place is Location.HOST:
        result.drawn = True
    if in_place and receiver is not None and receiver.made is not None and result.made is None:
        machine.rebind(subject_of(arguments), receiver, receiver.like(made=None))
    return result


def read_into(
    machine: Machine, node: nodes.NodeNG, subject: nodes.NodeNG | None, owner: Tensor, given: Value, spelled: str
) -> Tensor:
    """A tensor of the host that takes in what lives on a device, in place: a lazy device has it fetched for that."""
    if machine.aim.is_lazy or "copy" in spelled:
        machine.read(node, subject, given, How.VALUE, f"{spelled} into a tensor of the host", materialises=True)
    return owner.like(made=None) if owner.made is not None else owner


def is_data_shaped(name: str, numbers: list[Value], arguments: Arguments) -> bool:
    """Operations whose shape depends on values in some of their forms."""
    if name == "one_hot":
        classes = arguments.keywords.get("num_classes") or (numbers[0] if numbers else None)
        return classes is None or (isinstance(classes, Number) and classes.const == -1)
    if name == "repeat_interleave":
        repeats = arguments.keywords.get("repeats") or (numbers[0] if numbers else None)
        return isinstance(repeats, Tensor)
    if name == "where":
        return not numbers and not arguments.keywords
    return False


def _report_numbers(machine: Machine, name: str, numbers: list[Value], arguments: Arguments) -> None:
    call = arguments.node
    if name in BAKED_ARGUMENTS:
        keywords = BAKED_ARGUMENTS[name]
        given = [*numbers, *(arguments.keywords[k] for k in keywords if k in arguments.keywords)]
        length = arguments.keywords.get("length", numbers[2] if len(numbers) > 2 else None)
        for number in given:
            shape = name == "narrow" and number is length
            if report_changing(machine, call, f"{name}()", number, shape=shape):
                return
    elif name in SIZES_FROM_ARGUMENTS:
        sizes = numbers[:1] if name in ("new_full", "pad", "one_hot", "topk") else numbers
        for number in (*sizes, *(value for key, value in arguments.keywords.items() if key not in NOT_SIZES)):
            if report_changing(machine, call, f"{name}()", number, shape=True):
                return


def kind_of(name: str, first: Tensor | None) -> Kind:
    """The dtype of an operation's result, as far as it is known."""
    if name in BOOLEAN:
        return Kind.BOOL
    if name in INTEGER:
        return Kind.INT
    if name in ("float", "half", "bfloat16", "double", "softmax", "log_softmax", "sigmoid", "mean"):
        return Kind.FLOAT
    if first is not None and name in (
        "view", "reshape", "flatten", "squeeze", "unsqueeze", "expand", "transpose", "permute", "clone", "detach",
        "contiguous", "t", "repeat", "roll", "flip", "index_select", "gather", "masked_fill", "expand_as", "view_as",
        "scatter", "scatter_add", "index_fill", "index_copy", "tril", "triu", "fill", "copy", "chunk", "narrow",
    ):  # fmt: skip
        return first.kind
    return Kind.UNKNOWN


def kind_named(dtype: Value | None) -> Kind | None:
    """The kind that a dtype argument names, None where it names none."""
    if not isinstance(dtype, Name) or not dtype.dotted.startswith("torch."):
        return None
    return KIND_NAMES.get(dtype.dotted.removeprefix("torch."), Kind.FLOAT)


def first_size(sizes: list[Value]) -> int | None:
    """The first dimension that a factory's size arguments give."""
    head = sizes[0] if sizes else None
    if isinstance(head, Sequence):
        head = head.items[0] if head.items else None
    if isinstance(head, Number) and isinstance(head.const, int) and not head.loops and not isinstance(head.const, bool):
        return head.const
    return None


def host_copy(tensor: Tensor) -> Tensor:
    """The tensor on the host."""
    return tensor.like(place=Location.HOST, recorded_in=MATERIALISED, sites=frozenset(), parts=frozenset({FETCHED}))


@methods(Tensor, "to", "type", "xpu", "cuda")
def move(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """`.to(...)`: another place reads or transfers, another dtype computes."""
    node = arguments.node
    subject = subject_of(arguments)
    target = arguments.get(0, "device")
    dtype = next((v for v in (*arguments.positional, arguments.keywords.get("dtype")) if isinstance(v, Name)), None)
    kind = kind_named(dtype) or receiver.kind
    place = place_named(target, machine.backend) if not isinstance(target, Name) else None
    if place is not None and name == "to":
        known = not (isinstance(target, Device) and not target.certain)
        machine.emit(Transfer(node, machine.context, receiver, receiver.place, place, known, dtype is not None))
    if name == "cuda":
        return receiver.like(place=Location.UNKNOWN)
    if place is None or place is receiver.place:
        if dtype is None and name == "to":
            return receiver
        return machine.derived(
            node,
            [receiver],
            kind=kind,
            length=receiver.length,
            unstructured=receiver.unstructured,
            sites=receiver.sites,
        )
    if place is Location.HOST:
        machine.read(node, subject, receiver, How.VALUE, '.to("cpu")', materialises=True)
        return host_copy(receiver)
    if place is Location.DEVICE:
        certain = receiver.certain and not (isinstance(target, Device) and not target.certain)
        if machine.loops and receiver.place is not Location.DEVICE and receiver.made is None:
            machine.loops[-1].note_move()
            want_on_device(machine, receiver)
        return receiver.like(
            place=Location.DEVICE, recorded_in=MATERIALISED, certain=certain, kind=kind, made=None, parts=NO_PARTS
        )
    return receiver.like(place=Location.UNKNOWN) if receiver.place is not Location.DEVICE else receiver


@methods(Tensor, "backward")
def backward(machine: Machine, receiver: Tensor, name: str, arguments: Arguments) -> Value | None:
    """The backward pass: it uses up the history of running totals, and makes a loop a training loop."""
    machine.emit(Backward(arguments.node, machine.context, receiver))
    machine.growth.spent |= set(receiver.sites)
    if receiver.place is Location.DEVICE:
        machine.backward(arguments.node)
        run_hooks(machine, arguments.node)
    elif receiver.place is Location.UNKNOWN:
        machine.here.gradients = Gradients(computed=True)
    return NONE
