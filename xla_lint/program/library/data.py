"""Datasets, samplers and loaders, those of backends among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.knowledge.datasets import ROWS
from xla_lint.program.backend import names, role_of
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import LoaderBuilt
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.objects import bound_to, member_of
from xla_lint.program.domain.values import (
    MATERIALISED,
    NO_PARTS,
    NONE,
    NUMBER,
    UNKNOWN,
    Choice,
    Instance,
    Location,
    Mapping,
    Number,
    Part,
    Sequence,
    Stream,
    Tensor,
    Trait,
    Value,
    options,
)
from xla_lint.program.domain.walk import OBJECTS, changed
from xla_lint.program.library.iterables import length
from xla_lint.program.library.progress import bar_method
from xla_lint.program.library.registry import function, methods
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.syntax.imports import bindings_of

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

FOR_EVER = 10**7
"""A sampler that is told to draw so many rows is meant never to end."""
SAMPLER = "*sampler"
"""The attribute of a `BatchSampler` that holds the sampler whose rows it groups."""


@function("torch.utils.data.DataLoader")
def build_loader(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A `DataLoader`, with what its batches are made of."""
    dataset = arguments.get(0, "dataset") or UNKNOWN
    collate = arguments.keywords.get("collate_fn")
    element = batch_of(machine, dataset, collate, arguments)
    sampled = arguments.keywords.get("sampler", NONE) is not NONE
    loader = Loader(
        arguments.node,
        element if element is not UNKNOWN else whole_batch(),
        batch_size=arguments.get(1, "batch_size"),
        drop_last=arguments.get(8, "drop_last"),
        rows=rows_drawn(arguments) if sampled else rows_of(machine, dataset, arguments.node),
        endless=is_endless(machine, dataset, arguments) or arguments.unpacked,
        dataset=dataset,
        sampler=first_given(arguments.get(3, "sampler"), arguments.get(4, "batch_sampler")),
        shuffle=arguments.get(2, "shuffle"),
        workers=arguments.get(5, "num_workers"),
        unpacked=arguments.unpacked,
        made=machine.loops,
    )
    machine.emit(LoaderBuilt(arguments.node, machine.context, loader))
    return loader


def whole_batch() -> Tensor:
    """A batch of which nothing is known."""
    return Tensor(Location.HOST, unstructured=True, certain=False, parts=frozenset({Part(whole=True)}))


def first_given(*values: Value | None) -> Value | None:
    """The first of some arguments that is given and is not None."""
    return next((value for value in values if value is not None and value is not NONE), None)


def is_endless(machine: Machine, dataset: Value, arguments: Arguments) -> bool:
    """True where a batch sampler decides what a batch is, or where the rows never end before a run does.

    The latter holds for a dataset or a sampler that yields them for ever, and for a sampler that is told how many to
    draw: so many that no run takes them all, or a number that the source computes for the purpose.
    """
    if "batch_sampler" in arguments.keywords:
        return True
    sampler = arguments.keywords.get("sampler")
    if yields_for_ever(dataset) or yields_for_ever(sampler):
        return True
    drawn = sampler.attributes.get("*rows") if isinstance(sampler, Instance) else None
    if not isinstance(drawn, Number) or drawn.const is None:
        return drawn is not None and not (isinstance(drawn, Number) and Trait.SHAPE in drawn.traits)
    return drawn.const >= FOR_EVER


def yields_for_ever(source: Value | None) -> bool:
    """Whether a dataset or a sampler of the project yields rows for ever, in itself or by a function that it calls."""
    method = member_of(source.cls, "__iter__") if isinstance(source, Instance) else None
    if not isinstance(source, Instance) or not isinstance(method, Function):
        return False
    givers = [node.value for node in method.node.nodes_of_class((nodes.Return, nodes.YieldFrom))]
    called = [giver.func for giver in givers if isinstance(giver, nodes.Call)]
    generators = [made for func in called if (made := generator_of(source, func)) is not None]
    loops = (loop for function in (method.node, *generators) for loop in function.nodes_of_class(nodes.While))
    return any(isinstance(loop.test, nodes.Const) and loop.test.value for loop in loops)


def generator_of(owner: Instance, func: nodes.NodeNG) -> nodes.NodeNG | None:
    """The function of the file, or the method of the owner, that an expression names; None for others."""
    if isinstance(func, nodes.Attribute):
        method = member_of(owner.cls, func.attrname) if isinstance(func.expr, nodes.Name) else None
        return method.node if isinstance(method, Function) else None
    found = bindings_of(func) if isinstance(func, nodes.Name) else ()
    return next((node for node in found if isinstance(node, nodes.FunctionDef)), None)


def rows_drawn(arguments: Arguments) -> int | None:
    """How many rows a loader's sampler draws, where the source says so."""
    sampler = arguments.keywords.get("sampler")
    drawn = sampler.attributes.get("*rows") if isinstance(sampler, Instance) else None
    return int(drawn.const) if isinstance(drawn, Number) and drawn.const is not None else None


def rows_of(machine: Machine, dataset: Value, node: nodes.NodeNG) -> int | None:
    """How many rows a dataset has, where the source says so."""
    if not isinstance(dataset, (Instance, Sequence, Tensor)):
        return None
    found = length(machine, "builtins.len", Arguments(node, [dataset]))
    if isinstance(found, Number) and isinstance(found.const, int) and not found.loops:
        return found.const
    return None


def batch_of(machine: Machine, dataset: Value, collate: Value | None, arguments: Arguments) -> Value:
    """What a loader yields: what the collate function makes, or the dataset's items stacked, on the host."""
    if collate is not None and collate is not NONE:
        for option in options(collate):
            callee = option
            if isinstance(option, Instance) and option.cls is not None:
                member = member_of(option.cls, "__call__")
                callee = member if isinstance(member, Function) else UNKNOWN
                if isinstance(callee, Function):
                    callee = bound_to(callee, option)
            if isinstance(callee, Function) or (isinstance(callee, Instance) and callee.library == "functools.partial"):
                with machine.elsewhere(loops=(), callback=not takes_one_row(arguments)):
                    row = row_of(machine, dataset, arguments.node)
                    result = machine.call(callee, Arguments(arguments.node, [Sequence(None, row)]))
                return on_host(result)
        return UNKNOWN
    return on_host(row_of(machine, dataset, arguments.node), stacked=True)


def takes_one_row(arguments: Arguments) -> bool:
    """Whether a loader is told to make a batch of each row: none is longer than another there."""
    size = arguments.get(1, "batch_size")
    return isinstance(size, Number) and size.const == 1 and Trait.DEFAULT not in size.traits


def row_of(machine: Machine, dataset: Value, node: nodes.NodeNG) -> Value:
    """One item of a dataset."""
    if isinstance(dataset, Choice):
        return join_all([row_of(machine, option, node) for option in dataset.options])
    if isinstance(dataset, Instance):
        tensors = dataset.attributes.get("*tensors")
        if isinstance(tensors, Sequence) and tensors.items is not None:
            return Sequence([Tensor(Location.HOST) for _ in tensors.items], Tensor(Location.HOST), True)
        if dataset.cls is not None:
            method = member_of(dataset.cls, "__getitem__")
            if isinstance(method, Function):
                with machine.elsewhere(loops=()):
                    return machine.call(bound_to(method, dataset), Arguments(node, [NUMBER]))
            method = member_of(dataset.cls, "__iter__")
            if isinstance(method, Function):
                with machine.elsewhere(loops=()):
                    return machine.iterate(dataset, None, node)
        inner = dataset.attributes.get("*source")
        return row_of(machine, inner, node) if inner is not None else UNKNOWN
    if isinstance(dataset, (Sequence, Tensor)):
        return machine.iterate(dataset, None, node)
    return UNKNOWN


def on_host(value: Value, *, stacked: bool = False) -> Value:
    """A batch as a loader yields it: tensors on the host.

    `stacked`: numbers and arrays are made tensors as well, and rows of tuples become a list of columns. What nothing is
    known of is taken for a tensor, or several, as nearly all that is stacked.
    """
    if value is UNKNOWN:
        return UNKNOWN

    def fetched(item: Value) -> Value:
        if isinstance(item, Tensor):
            return item.like(place=Location.HOST, recorded_in=MATERIALISED, length=None, parts=frozenset({Part()}))
        if isinstance(item, Number) and stacked:
            return Tensor(Location.HOST, parts=frozenset({Part()}))
        if item is UNKNOWN and stacked:
            return Tensor(Location.HOST, unstructured=True, certain=False, parts=frozenset({Part()}))
        return item

    batch = changed(value, fetched, OBJECTS)
    return thawed(batch) if stacked else batch


def thawed(value: Value) -> Value:
    """A value whose tuples are lists."""
    if isinstance(value, Sequence):
        items = None if value.items is None else [thawed(item) for item in value.items]
        return Sequence(items, thawed(value.element))
    if isinstance(value, Mapping):
        element = None if value.element is None else thawed(value.element)
        return Mapping({key: thawed(item) for key, item in value.entries.items()}, element)
    return join_all(thawed(option) for option in value.options) if isinstance(value, Choice) else value


def on_device(value: Value) -> Value:
    """A batch as a device loader yields it: its tensors transferred, those of objects as well, all else as it is."""
    return changed(value, _transferred, OBJECTS)


def _transferred(value: Value) -> Value:
    if isinstance(value, Tensor):
        return value.like(place=Location.DEVICE, recorded_in=MATERIALISED, parts=NO_PARTS)
    return Tensor(Location.DEVICE, unstructured=True, certain=False) if value is UNKNOWN else value


def wrap(value: Value, node: nodes.NodeNG) -> Loader:
    """A loader whose `next()` is a barrier and yields device tensors."""
    if isinstance(value, Loader):
        value.host.fed = True
        return Loader(node, on_device(value.element), wrapped=True, inner=value)
    element = value.element if isinstance(value, Stream) else UNKNOWN
    return Loader(node, on_device(element), wrapped=True)


@function(*names(Role.LOADER, Role.SINGLE_PASS_LOADER))
def wrap_loader(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A device loader around a host loader."""
    given = options(arguments.get(0, "loader") or UNKNOWN)
    wrapped = [wrap(o, arguments.node) for o in given if isinstance(o, Loader)] or [wrap(given[0], arguments.node)]
    for loader in wrapped:
        loader.single = role_of(dotted) is Role.SINGLE_PASS_LOADER
        loader.made = machine.loops
    return join_all(wrapped)


@methods(Loader)
def loader_method(machine: Machine, receiver: Loader, name: str, arguments: Arguments) -> Value | None:
    """`per_device_loader` gives the wrapped loader; progress bars around loaders are seen through."""
    if name == "per_device_loader":
        return receiver
    if name == "__iter__":
        return Stream(UNKNOWN, source=receiver)
    if name in ("set_postfix", "set_description", "set_postfix_str", "update", "write"):
        return bar_method(machine, receiver, name, arguments)
    return NONE if name == "close" else UNKNOWN


@methods("torch.utils.data.")
def dataset_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Constructors of the library's datasets, inherited or not; their methods are host work."""
    if name == "__init__" and receiver.library == "torch.utils.data.TensorDataset":
        fill_tensor_dataset(receiver, arguments)
    return UNKNOWN if name != "__init__" else NONE


def fill_tensor_dataset(dataset: Instance, arguments: Arguments) -> None:
    """Note a tensor dataset's columns and its number of rows."""
    dataset.attributes["*tensors"] = Sequence(list(arguments.positional) if not arguments.unpacked else None)
    first = arguments.get(0)
    dataset.attributes["*rows"] = Number(first.length) if isinstance(first, Tensor) else NUMBER


@function("torchvision.datasets.")
def build_torchvision_dataset(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dataset of torchvision, whose size is known for some."""
    made = Instance(None, dotted, node=arguments.node)
    sizes = ROWS.get(dotted.rpartition(".")[2])
    train = arguments.get(1, "train") or Number(True)
    if sizes is not None and isinstance(train, Number) and train.const is not None:
        made.attributes["*rows"] = Number(sizes[0] if train.const else sizes[1])
    return made


@function("torch.utils.data.")
def build_dataset(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dataset or sampler of the library, or a function on datasets."""
    last = dotted.rpartition(".")[2]
    if last == "random_split":
        source = arguments.get(0) or UNKNOWN
        sizes = arguments.get(1, "lengths")
        counts = sizes.items if isinstance(sizes, Sequence) and sizes.items is not None else [NUMBER, NUMBER]
        return Sequence(
            [
                Instance(None, "torch.utils.data.Subset", {"*source": source, "*rows": size if whole(size) else NUMBER})
                for size in counts
            ]
        )
    if not last[:1].isupper():
        return UNKNOWN
    made = Instance(None, dotted, node=arguments.node)
    if last == "TensorDataset":
        fill_tensor_dataset(made, arguments)
    elif last == "Subset":
        made.attributes["*source"] = arguments.get(0) or UNKNOWN
    elif last == "BatchSampler":
        made.attributes[SAMPLER] = arguments.get(0, "sampler") or UNKNOWN
    elif last == "WeightedRandomSampler":
        made.attributes["*rows"] = arguments.get(1, "num_samples") or UNKNOWN
    elif last == "RandomSampler" and (drawn := first_given(arguments.get(2, "num_samples"))) is not None:
        made.attributes["*rows"] = drawn
    elif last == "DistributedSampler" and (shuffle := arguments.get(3, "shuffle")) is not None:
        made.attributes["shuffle"] = shuffle
    if last != "TensorDataset":
        made.attributes["*arguments"] = Sequence(arguments.values())
    return made


def whole(value: Value) -> bool:
    """True for a known number of rows."""
    return isinstance(value, Number) and isinstance(value.const, int)
