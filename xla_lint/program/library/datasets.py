"""`datasets` and `evaluate` of Hugging Face."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.values import NONE, NUMBER, UNKNOWN, Instance, Mapping, Number, Sequence, Stream, Value
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

DATASETS = "datasets."
LOADED = frozenset({"datasets.load_dataset", "datasets.load_from_disk"})
"""What loads a dataset, with the same rows in each process that calls it with the same arguments."""
SAME_ROWS = frozenset({"shuffle", "sort", "with_format", "with_transform", "remove_columns", "rename_column"})
"""What makes a dataset of Hugging Face from another one with as many rows."""
OTHER_ROWS = frozenset({"map", "filter", "train_test_split", "take", "skip"})
GIVEN, STREAMED, ROWS = "*arguments", "*streamed", "*rows"
"""The attributes that hold what a dataset was made with, whether its rows are streamed, and how many there are.

Among the former UNKNOWN stands for what may be another one on each replica: files, indices, a filter by place.
"""


@methods(DATASETS)
def derived_dataset(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A dataset of Hugging Face made from another one: how many rows it has is known after `select`."""
    machine.hand_over(arguments)
    if name == "select":
        indices = arguments.get(0, "indices")
        chosen = made_from(receiver, [UNKNOWN if indices is None else indices])
        chosen.attributes[ROWS] = chosen_rows(indices)
        return chosen
    if name in SAME_ROWS or (name == "map" and "batched" not in arguments.keywords):
        return receiver
    if name not in OTHER_ROWS:
        return UNKNOWN
    by_place = "with_indices" in arguments.keywords or "batched" in arguments.keywords
    known = [value for value in arguments.positional if value is not UNKNOWN]
    return made_from(receiver, [UNKNOWN] if name == "filter" and by_place else known)


def made_from(dataset: Instance, given: list[Value]) -> Instance:
    """A dataset made from another one, with what both were made with; a part of it, or other rows."""
    kept = {name: value for name, value in dataset.attributes.items() if name == STREAMED}
    both = Sequence([dataset.attributes.get(GIVEN, UNKNOWN), *given])
    return Instance(None, dataset.library, {**kept, GIVEN: both}, node=dataset.node)


def chosen_rows(indices: Value | None) -> Value:
    """How many rows a `range` or a list of indices chooses."""
    if isinstance(indices, Stream) and indices.counted and indices.stop is not None:
        return indices.stop
    return Number(len(indices.items)) if isinstance(indices, Sequence) and indices.items is not None else NUMBER


def split_of(dataset: Instance) -> Instance:
    """A split, or a column, of what was loaded."""
    return Instance(
        None, dataset.library, {k: v for k, v in dataset.attributes.items() if k != ROWS}, node=dataset.node
    )


def has_all_rows(dataset: Instance) -> bool:
    """Whether a dataset of Hugging Face surely has the same rows on each replica.

    By the source of datasets 5.2 a dataset is split over processes by `shard` and `split_dataset_by_node` alone,
    streamed or not; a streamed one splits its files over the workers of a loader, in each process again.
    """
    given = dataset.attributes.get(GIVEN)
    return dataset.library in LOADED and given is not None and all(part is not UNKNOWN for part in parts_of(given))


def parts_of(given: Value) -> Iterator[Value]:
    """What a dataset was made with, and those that it was made from."""
    for part in (given.items or []) if isinstance(given, Sequence) else []:
        yield part
        if isinstance(part, Sequence) and not part.frozen:
            yield from parts_of(part)


def is_streamed(dataset: Instance) -> bool:
    """Whether a dataset of Hugging Face has no length and no places."""
    streamed = dataset.attributes.get(STREAMED)
    return isinstance(streamed, Number) and bool(streamed.const)


@function(DATASETS, "evaluate.")
def build(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dataset or a metric."""
    machine.hand_over(arguments)
    if dotted not in LOADED:
        return Instance(None, dotted, node=arguments.node)
    files = arguments.get(3, "data_files")
    named = [value for value in arguments.values() if value is not UNKNOWN]
    streamed = arguments.keywords.get("streaming", Number(False))
    given = Sequence([*named, *([] if files is None else [files])])
    return Instance(None, dotted, {GIVEN: given, STREAMED: streamed}, node=arguments.node)


@function("datasets.load_metric")
def load_metric(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A metric, as evaluate has them now."""
    return Instance(None, "evaluate.EvaluationModule", node=arguments.node)


@methods("evaluate.", "add", "add_batch", "compute")
def feed_metric(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Each input becomes a NumPy array, for which it is fetched; the result is a dict of numbers.

    By the source of evaluate 0.4: `add_batch` encodes its inputs as features of datasets, which calls
    `tensor.detach().cpu().numpy()` on each.
    """
    for value in arguments.values():
        machine.read(arguments.node, None, value, How.VALUE, f".{name}()", materialises=True)
    return Mapping({}, NUMBER) if name == "compute" else NONE


@methods("evaluate.")
def metric_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A metric may call what it is given."""
    machine.hand_over(arguments)
    return NONE if name == "__init__" else UNKNOWN
