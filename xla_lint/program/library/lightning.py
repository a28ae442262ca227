"""Lightning: modules, callbacks, and what its `Trainer` calls every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance, Number, Value
from xla_lint.program.domain.walk import DATA, found_in
from xla_lint.program.library.hooks import anything, batch, given, materialised, model, number, outputs
from xla_lint.program.library.optimizers import step_every_turn
from xla_lint.program.library.registry import attributes, function, hooks, methods, results

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.definitions import Function
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


RANKS = frozenset({"global_rank", "local_rank"})
"""What differs between replicas (lightning 2.6)."""


@methods("lightning.LightningModule", "log", "log_dict")
def log(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """`self.log` shows a value in the progress bar, or accumulates it on the device."""
    shown = arguments.keywords.get("prog_bar")
    value = arguments.get(1, "value") if name == "log" else arguments.get(0, "dictionary")
    if isinstance(shown, Number) and shown.const and value is not None:
        subject = arguments.node_of(1, "value")
        machine.read(arguments.node, subject, value, How.FORMAT, f"self.{name}(prog_bar=True)")
    return NONE


@methods("lightning.LightningModule")
def module_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """What a module has besides the methods of any model."""
    if name == "manual_backward":
        return machine.method(arguments.get(0) or UNKNOWN, "backward", arguments)
    return NONE if name in ("save_hyperparameters", "toggle_optimizer", "untoggle_optimizer") else None


@attributes("lightning.Trainer", "lightning.Fabric")
def trainer_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """A trainer knows which replica it is, and how many steps were taken."""
    if name == "global_step":
        return Number(loops=frozenset(machine.loops[-1:]))
    return RANK if name in RANKS or name in ("is_global_zero", "node_rank") else None


@attributes("lightning.LightningModule")
def module_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """A module knows its trainer, and how many steps were taken."""
    if name == "trainer":
        return trainer()
    if name == "global_step":
        return Number(loops=frozenset(machine.loops[-1:]))
    return RANK if name in RANKS else None


@function("lightning.")
def framework(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Objects of a framework that runs the loops itself."""
    machine.hand_over(arguments)
    return Instance(None, dotted, node=arguments.node)


@methods("lightning.Trainer", "fit", "validate", "test", "predict")
def run_loops(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The trainer wraps the loaders that it is given for the device."""
    for value in arguments.values():
        feed(value)
    return None


def feed(value: Value) -> None:
    """Note that the loaders in a value, which the trainer gets, feed the device."""
    for loader in found_in(value, Loader, DATA):
        loader.host.fed = True


@methods("lightning.")
def framework_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A framework calls the functions it is given again and again."""
    if name == "__init__":
        return NONE
    machine.hand_over(arguments)
    return UNKNOWN


def trainer() -> Value:
    """Lightning's trainer."""
    return Instance(None, "lightning.Trainer")


STEP = (batch, number)
END = (outputs, batch, number)
"""What validation and test computed is pending when their batches end: the loader's barrier comes after."""
LIGHTNING = {
    "training_step": STEP,
    "validation_step": STEP,
    "test_step": STEP,
    "predict_step": STEP,
    "on_train_batch_start": STEP,
    "on_validation_batch_start": STEP,
    "on_train_batch_end": (materialised, batch, number),
    "on_validation_batch_end": END,
    "on_test_batch_end": END,
    "on_before_backward": (outputs,),
    "on_after_backward": (),
    "on_before_optimizer_step": (anything,),
    "on_before_zero_grad": (anything,),
}
LIGHTNING_CALLBACK = {name: (trainer, model, *kinds) for name, kinds in LIGHTNING.items() if name.startswith("on_")}


@hooks("lightning.LightningModule")
def module_hook(name: str) -> tuple[list[Value], dict[str, Value]] | None:
    """What a module's methods are called with."""
    return given(LIGHTNING.get(name))


@hooks("lightning.Callback", "lightning.callbacks.")
def callback_hook(name: str) -> tuple[list[Value], dict[str, Value]] | None:
    """What a callback's methods are called with."""
    return given(LIGHTNING_CALLBACK.get(name))


@results("lightning.", "train_dataloader", "val_dataloader", "test_dataloader", "predict_dataloader")
def take_loaders(machine: Machine, method: Function, returned: Value) -> None:
    """The trainer wraps the loaders that it gets for the device."""
    feed(returned)


@results("lightning.LightningModule", "training_step")
def take_loss(machine: Machine, method: Function, returned: Value) -> None:
    """Unless the module optimizes by hand, the backward pass and the optimizer step follow."""
    module = method.receiver
    automatic = module.attributes.get("automatic_optimization") if isinstance(module, Instance) else None
    if not (isinstance(automatic, Number) and automatic.const is False):
        machine.backward(method.node)


@results("lightning.LightningModule", "configure_optimizers")
def take_optimizers(machine: Machine, method: Function, returned: Value) -> None:
    """The trainer steps the optimizers that it gets every step."""
    step_every_turn(machine, returned, method.node)
