"""Transformers: models, tokenizers, and what its `Trainer` calls every step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import BACKENDS, names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import choose
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.values import (
    FACT,
    NONE,
    TEXT,
    UNKNOWN,
    Instance,
    Kind,
    Location,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Text,
    Value,
    options,
)
from xla_lint.program.library.checkpoints import longest_of
from xla_lint.program.library.data import row_of
from xla_lint.program.library.hooks import anything, batch_of_names, given, loader, model, optimizer, schedule
from xla_lint.program.library.networks import place_model
from xla_lint.program.library.optimizers import build_optimizer, step_every_turn
from xla_lint.program.library.registry import attributes, function, hooks, methods, results_of_each
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.definitions import Function
    from xla_lint.program.machine.machine import Machine

MODEL = "transformers.PreTrainedModel"
CONFIGURATIONS = frozenset({"config", "generation_config"})
RANKS = frozenset({"process_index", "local_process_index", "local_rank", "should_log", "should_save"})
"""The attributes of `TrainingArguments` that differ between replicas (transformers 4 and 5)."""
TOKENIZER = "transformers.PreTrainedTokenizer"
PRESENCE_TESTS = {test: backend for backend in BACKENDS for test in backend.presence_tests}
"""The functions that say whether a backend is there, by last name."""
TO_LISTS = {"decode": "token_ids", "batch_decode": "sequences", "convert_ids_to_tokens": "ids"}
"""The methods of tokenizers that turn a tensor into a list (transformers 5.24 on torch_xla 2.9), each with the name of
the parameter for it."""


@function("transformers.")
def build_transformers(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Tokenizers and models by their `from_pretrained`, and the library's other classes."""
    parts = dotted.split(".")
    name = parts[1]
    if parts[-1] in ("from_pretrained", "from_config"):
        if "Tokenizer" in name or "Processor" in name:
            return Instance(None, TOKENIZER, length_of(arguments), node=arguments.node)
        if "Config" in name:
            return Instance(None, "transformers.PretrainedConfig", node=arguments.node)
        if "Model" in name or "For" in name or name.startswith("Auto"):
            return Instance(None, MODEL, model=True, node=arguments.node)
    if name.endswith(("Tokenizer", "TokenizerFast")):
        return Instance(None, TOKENIZER, node=arguments.node)
    if name.endswith("Model") or ("For" in name and not name.startswith("DataCollator")):
        return Instance(None, MODEL, model=True, node=arguments.node)
    if name.startswith("get_") and name.endswith(("schedule", "scheduler", "warmup")):
        return Instance(None, "torch.optim.lr_scheduler.LambdaLR", node=arguments.node)
    if name in PRESENCE_TESTS:
        return available(machine, name, arguments)
    if name in ("AdamW", "Adafactor"):
        return build_optimizer(machine, f"torch.optim.{name}", arguments)
    if name.endswith("Trainer"):
        step_every_turn(machine, arguments.keywords.get("optimizers") or NONE, arguments.node)
        draw_rows(machine, arguments)
    if name == "default_data_collator":
        return UNKNOWN
    machine.hand_over(arguments)
    return Instance(None, dotted, dict(arguments.keywords), node=arguments.node) if name[:1].isupper() else UNKNOWN


def length_of(arguments: Arguments) -> dict[str, Value]:
    """The attribute that holds the greatest length of a tokenizer, where the call or the checkpoint tells it."""
    given = arguments.keywords.get("model_max_length")
    if given is not None:
        return {"model_max_length": given}
    checkpoint = arguments.get(0, "pretrained_model_name_or_path")
    longest = longest_of(checkpoint.const) if isinstance(checkpoint, Text) and checkpoint.const else None
    return {} if longest is None else {"model_max_length": Number(longest)}


@function(*(f"{package}.utils.{test}" for package in ("transformers", "accelerate") for test in PRESENCE_TESTS))
def available(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """True in a program for the backend that is asked for."""
    return Number(PRESENCE_TESTS[dotted.rpartition(".")[2]] is machine.backend, traits=FACT)


@methods(TOKENIZER)
def tokenizer_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A tokenizer gives host tensors."""
    if name in ("__call__", "pad", "encode_plus", "batch_encode_plus", "encode"):
        return Mapping({}, Tensor(Location.HOST))
    if name in TO_LISTS:
        given = arguments.get(0) or arguments.keywords.get(TO_LISTS[name]) or NONE
        machine.read(arguments.node, arguments.node_of(0), given, How.VALUE, f".{name}()", materialises=True)
    return TEXT if "decode" in name else UNKNOWN


@methods("transformers.", "generate")
def generate(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Tokens, where the model is."""
    if not receiver.model:
        return None
    record = "return_dict_in_generate" in arguments.keywords
    return machine.tensor(arguments.node, receiver.place, kind=Kind.INT, certain=receiver.certain, unstructured=record)


@methods("transformers.")
def transformers_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Methods of the library's other objects; of a model, nothing that is not any model's."""
    if receiver.model:
        return None
    if name in QUESTIONS:
        return RANK
    machine.hand_over(arguments)
    if name == "__init__":
        step_every_turn(machine, arguments.keywords.get("optimizers") or NONE, arguments.node)
        draw_rows(machine, arguments)
        keep_model(machine, receiver, arguments)
    return NONE if name == "__init__" else UNKNOWN


def draw_rows(machine: Machine, arguments: Arguments) -> None:
    """A trainer's loaders draw rows of the datasets that it is given."""
    for name in ("train_dataset", "eval_dataset"):
        with machine.elsewhere(loops=(), callback=True):
            row_of(machine, arguments.keywords.get(name, NONE), arguments.node)


def keep_model(machine: Machine, trainer: Instance, arguments: Arguments) -> None:
    """A trainer holds the model that it is given, and moves it to the device."""
    given = arguments.get(0, "model") or UNKNOWN
    models = [option for option in options(given) if isinstance(option, Instance) and option.model]
    if trainer.library.endswith("Trainer") and models:
        machine.heap.put(trainer.attributes, "model", choose(models))
        for each in models:
            place_model(machine, each, Location.DEVICE, certain=False)


@methods("transformers.", "compute_loss", "training_step", "prediction_step")
def trainer_step(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A trainer's own step gives the loss of the batch, and more where it is asked for (transformers 5.24)."""
    if not receiver.library.endswith("Trainer"):
        return None
    given = arguments.get(0, "model") or UNKNOWN
    batch = Tensor(Location.DEVICE, unstructured=True, certain=False)
    outputs = machine.call(given, Arguments(arguments.node, [], {"**": batch}, unpacked=True, rest=batch))
    loss = machine.tensor(arguments.node, Location.DEVICE, grad=name == "compute_loss", certain=False)
    if name == "training_step":
        machine.backward(arguments.node)
        return loss
    if name == "prediction_step":
        return Sequence([choose([part, NONE]) for part in (loss, batch, batch)], frozen=True)
    asked = arguments.keywords.get("return_outputs")
    pair = Sequence([loss, outputs], frozen=True)
    if isinstance(asked, Number) and asked.const is not None:
        return pair if asked.const else loss
    return loss if asked is None and len(arguments.positional) < 3 else choose([loss, pair])


def configuration(model: Instance, name: str) -> Value:
    """A model's configuration, the same one each time."""
    return model.attributes.setdefault(name, Instance(None, "transformers.PretrainedConfig", node=model.node))


@attributes("transformers.TrainerState")
def state_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """How far a trainer has come, and whether this is the first replica."""
    if name == "global_step":
        return Number(loops=frozenset(machine.loops[-1:]))
    return RANK if name in QUESTIONS else None


@attributes("transformers.TrainingArguments")
def argument_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """The arguments tell which replica this is."""
    return RANK if name in RANKS else None


@attributes("transformers.", *names(Role.TRAINERS))
def attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """A model holds its configuration, a processor its tokenizer, a trainer its arguments and what it trains."""
    if receiver.model:
        return configuration(receiver, name) if name in CONFIGURATIONS else None
    if receiver.library == TOKENIZER and name == "tokenizer":
        return receiver
    held = HELD.get(name)
    return held() if held is not None and receiver.library.endswith("Trainer") else None


def training_arguments() -> Value:
    """The arguments of a trainer of Transformers."""
    return Instance(None, "transformers.TrainingArguments")


def progress() -> Value:
    """How far a trainer of Transformers has come."""
    return Instance(None, "transformers.TrainerState")


HELD = {
    "args": training_arguments,
    "state": progress,
    "model": model,
    "optimizer": anything,
    "lr_scheduler": anything,
}
"""What the attributes of a trainer of Transformers are that the program has not set."""
TRAINER = {
    "compute_loss": (model, batch_of_names),
    "training_step": (model, batch_of_names),
    "prediction_step": (model, batch_of_names),
}
TRAINER_CALLBACK = dict.fromkeys(
    ("on_step_begin", "on_step_end", "on_substep_end", "on_prediction_step", "on_optimizer_step"),
    (training_arguments, progress, anything),
)
TRAINER_CALLBACK_KEYWORDS = {
    "model": model,
    "optimizer": optimizer,
    "lr_scheduler": schedule,
    "train_dataloader": loader,
    "eval_dataloader": loader,
}
QUESTIONS = frozenset({"is_world_process_zero", "is_local_process_zero"})
"""The methods of a trainer of Transformers that tell a process whether it is the first."""


@hooks("transformers.TrainerCallback")
def callback_hook(name: str) -> tuple[list[Value], dict[str, Value]] | None:
    """What a callback's methods are called with."""
    return given(TRAINER_CALLBACK.get(name), TRAINER_CALLBACK_KEYWORDS)


@hooks("transformers.", *names(Role.TRAINERS))
def trainer_hook(name: str) -> tuple[list[Value], dict[str, Value]] | None:
    """What the methods of a trainer, of any kind, are called with."""
    return given(TRAINER.get(name))


@results_of_each(("transformers.", *names(Role.TRAINERS)), "create_optimizer", "create_optimizer_and_scheduler")
def take_optimizer(machine: Machine, method: Function, returned: Value) -> None:
    """A trainer steps every step the optimizer that it was given."""
    trainer = method.receiver
    kept = trainer.attributes.get("optimizer") if isinstance(trainer, Instance) else None
    step_every_turn(machine, kept or returned, method.node)
