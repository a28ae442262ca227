"""The metrics of the libraries evaluate and datasets: what is added to them is converted to NumPy arrays.

By the source of evaluate 0.4 (`EvaluationModule.add_batch` encodes its inputs as features of datasets, which calls
`tensor.detach().cpu().numpy()` on each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.values import NONE, NUMBER, UNKNOWN, Instance, Mapping, Value
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

METRIC = "evaluate.EvaluationModule"


@function("evaluate.load", "evaluate.combine", "datasets.load_metric")
def load_metric(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A metric by its name."""
    return Instance(None, METRIC, node=arguments.node)


@methods(METRIC, "add", "add_batch", "compute")
def feed(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Each input is fetched from the device; `compute` gives numbers of the host."""
    for value in arguments.values():
        machine.read(arguments.node, None, value, How.VALUE, f".{name}()", materialises=True)
    return Mapping({}, NUMBER) if name == "compute" else NONE


@methods(METRIC)
def other(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The other methods read nothing."""
    return UNKNOWN
