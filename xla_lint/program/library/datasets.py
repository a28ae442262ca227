"""`datasets` and `evaluate` of Hugging Face."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.values import NONE, NUMBER, UNKNOWN, Instance, Mapping, Number, Sequence, Stream, Value
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

DATASETS = "datasets."
SAME_ROWS = frozenset({"shuffle", "sort", "with_format", "with_transform", "remove_columns", "rename_column"})
"""What makes a dataset of Hugging Face from another one with as many rows."""
OTHER_ROWS = frozenset({"map", "filter", "train_test_split"})


@methods(DATASETS)
def derived_dataset(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A dataset of Hugging Face made from another one: how many rows it has is known after `select`."""
    machine.hand_over(arguments)
    if name == "select":
        return Instance(None, receiver.library, {"*rows": chosen_rows(arguments.get(0, "indices"))}, node=receiver.node)
    if name in SAME_ROWS or (name == "map" and "batched" not in arguments.keywords):
        return receiver
    return Instance(None, receiver.library, node=receiver.node) if name in OTHER_ROWS else UNKNOWN


def chosen_rows(indices: Value | None) -> Value:
    """How many rows a `range` or a list of indices chooses."""
    if isinstance(indices, Stream) and indices.counted and indices.stop is not None:
        return indices.stop
    return Number(len(indices.items)) if isinstance(indices, Sequence) and indices.items is not None else NUMBER


@function(DATASETS, "evaluate.")
def build(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dataset or a metric."""
    machine.hand_over(arguments)
    return Instance(None, dotted, node=arguments.node)


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
