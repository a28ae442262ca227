"""The methods that frameworks call every step, and what they call them with."""

from __future__ import annotations

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.objects import library_base
from xla_lint.program.domain.values import NUMBER, UNKNOWN, Instance, Location, Tensor, Value


def batch() -> Value:
    """A batch on the device, of unknown structure."""
    return Tensor(Location.DEVICE, unstructured=True, certain=False)


def outputs() -> Value:
    """What the step computed: pending."""
    return Tensor(Location.DEVICE, recorded_in=1, unstructured=True, grad=False, certain=False)


def model() -> Value:
    """The model, on the device."""
    return Instance(None, "torch.nn.Module", place=Location.DEVICE, model=True, certain=False)


def number() -> Value:
    """A step's number."""
    return NUMBER


def trainer() -> Value:
    """Lightning's trainer."""
    return Instance(None, "lightning.Trainer")


def arguments() -> Value:
    """The arguments of a trainer of Transformers."""
    return Instance(None, "transformers.TrainingArguments")


def progress() -> Value:
    """How far a trainer of Transformers has come."""
    return Instance(None, "transformers.TrainerState")


def optimizer() -> Value:
    """The optimizer, its parameters on the device."""
    return Instance(None, "torch.optim.Optimizer", place=Location.DEVICE, certain=False)


def schedule() -> Value:
    """The schedule of the learning rate."""
    return Instance(None, "torch.optim.lr_scheduler.LRScheduler")


def loader() -> Value:
    """A loader, before or behind the wrapper for the device."""
    return Loader(None, UNKNOWN)


def anything() -> Value:
    """What the analysis does not follow."""
    return UNKNOWN


STEP = (batch, number)
END = (outputs, batch, number)
LIGHTNING = {
    "training_step": STEP,
    "validation_step": STEP,
    "test_step": STEP,
    "predict_step": STEP,
    "on_train_batch_start": STEP,
    "on_validation_batch_start": STEP,
    "on_train_batch_end": END,
    "on_validation_batch_end": END,
    "on_test_batch_end": END,
    "on_before_backward": (outputs,),
    "on_after_backward": (),
    "on_before_optimizer_step": (anything,),
    "on_before_zero_grad": (anything,),
}
LIGHTNING_CALLBACK = {name: (trainer, model, *kinds) for name, kinds in LIGHTNING.items() if name.startswith("on_")}
TRAINER = {
    "compute_loss": (model, batch),
    "training_step": (model, batch),
    "prediction_step": (model, batch),
}
TRAINER_CALLBACK = dict.fromkeys(
    ("on_step_begin", "on_step_end", "on_substep_end", "on_prediction_step", "on_optimizer_step"),
    (arguments, progress, anything),
)
TRAINER_CALLBACK_KEYWORDS = {
    "model": model,
    "optimizer": optimizer,
    "lr_scheduler": schedule,
    "train_dataloader": loader,
    "eval_dataloader": loader,
}
HOOKS = (
    ("lightning.LightningModule", LIGHTNING),
    ("lightning.Callback", LIGHTNING_CALLBACK),
    ("lightning.callbacks.", LIGHTNING_CALLBACK),
    ("transformers.TrainerCallback", TRAINER_CALLBACK),
    ("transformers.", TRAINER),
    ("optimum.neuron.", TRAINER),
)
"""By where the class comes from: the hooks with the parameters after `self`. The first match counts."""


def hook_keywords(function: Function) -> dict[str, Value]:
    """What a framework gives a hook by keyword, whether its signature names it or not."""
    base = library_base(function.owner) if function.owner is not None else ""
    given = TRAINER_CALLBACK_KEYWORDS if base == "transformers.TrainerCallback" else {}
    return {name: kind() for name, kind in given.items()}


def hook_parameters(function: Function) -> list[Value] | None:
    """What a framework calls a method with every step, None where the method is no such hook."""
    base = library_base(function.owner) if function.owner is not None else ""
    for prefix, hooks in HOOKS:
        if base.startswith(prefix):
            kinds = hooks.get(function.name)
            return None if kinds is None else [kind() for kind in kinds]
    return None
