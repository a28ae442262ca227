"""Trackers of experiments: TensorBoard, Weights & Biases, MLflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import How
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance, Value
from xla_lint.program.library.registry import function, methods
from xla_lint.program.library.saves import save

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

BOARD = "torch.utils.tensorboard.SummaryWriter"


@function(BOARD, "tensorboardX.SummaryWriter", *names(Role.WRITER))
def board(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A TensorBoard writer."""
    return Instance(None, BOARD, node=arguments.node)


@methods(BOARD)
def board_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A writer reads what it writes."""
    if name.startswith("add_") and name not in ("add_graph", "add_text", "add_hparams"):
        machine.read_each(arguments, How.FORMAT, f".{name}()", first=1, materialises=True)
    return NONE


@function("wandb.log", "mlflow.log_metric", "mlflow.log_metrics")
def track(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A tracker reads what it is given."""
    for value in arguments.positional:
        machine.read(arguments.node, None, value, How.FORMAT, dotted, materialises=True)
    return NONE


@function("wandb.init")
def start_tracking(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A run, whose `log` is the module's."""
    return Instance(None, "wandb.Run", node=arguments.node)


@methods("wandb.Run")
def run_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A run's methods are those of the module."""
    if name == "watch":
        return save(machine, "wandb.watch", arguments)
    return track(machine, "wandb.log", arguments) if name == "log" else UNKNOWN
