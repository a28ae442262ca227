"""Accelerate, Transformers, Lightning, progress bars and trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.ranks import QUESTIONS, RANK
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN,
    Instance,
    Kind,
    Location,
    Mapping,
    Number,
    Sequence,
    Stream,
    Tensor,
    Value,
)
from xla_lint.program.library.builtin import bar_method
from xla_lint.program.library.networks import model_method
from xla_lint.program.library.registry import function, objects
from xla_lint.program.machine.machine import Arguments

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

DATASETS = "datasets."
SAME_ROWS = frozenset({"shuffle", "sort", "with_format", "with_transform", "remove_columns", "rename_column"})
"""What makes a dataset of Hugging Face from another one with as many rows."""
OTHER_ROWS = frozenset({"map", "filter", "train_test_split"})
TOKENIZER = "transformers.PreTrainedTokenizer"
BOARD = "torch.utils.tensorboard.SummaryWriter"


@function("tqdm.tqdm", "tqdm.trange", "rich.progress.track", "tqdm.rich.tqdm")
def progress(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A progress bar yields what it is given."""
    if dotted.endswith("trange"):
        return Stream(NUMBER, counted=True)
    value = arguments.get(0, "iterable")
    if value is None:
        return Instance(None, "tqdm.tqdm", node=arguments.node)
    return value if isinstance(value, Loader) else Stream(UNKNOWN, source=value)


@objects("tqdm.tqdm", "tqdm.trange")
def progress_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A progress bar formats what it shows."""
    return bar_method(machine, receiver, name, arguments)


@function("tqdm.tqdm.write")
def progress_write(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A line beside the bar."""
    return bar_method(machine, NONE, "set_postfix", arguments)


@function(BOARD, "tensorboardX.SummaryWriter", "torch_xla.test.test_utils.get_summary_writer")
def board(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A TensorBoard writer."""
    return Instance(None, BOARD, node=arguments.node)


@objects(BOARD)
def board_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
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


@objects("wandb.Run")
def run_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A run's methods."""
    return track(machine, "wandb.log", arguments) if name == "log" else UNKNOWN


# Transformers.


@function("transformers.")
def build_transformers(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Tokenizers and models by their `from_pretrained`, and the library's other classes."""
    parts = dotted.split(".")
    name = parts[1]
    if parts[-1] in ("from_pretrained", "from_config"):
        if "Tokenizer" in name or "Processor" in name:
            known = arguments.keywords.get("model_max_length")
            return Instance(None, TOKENIZER, {} if known is None else {"model_max_length": known}, node=arguments.node)
        if "Config" in name:
            return Instance(None, "transformers.PretrainedConfig", node=arguments.node)
        if "Model" in name or "For" in name or name.startswith("Auto"):
            return Instance(None, "transformers.PreTrainedModel", model=True, node=arguments.node)
    if name.endswith(("Tokenizer", "TokenizerFast")):
        return Instance(None, TOKENIZER, node=arguments.node)
    if name.endswith("Model") or ("For" in name and not name.startswith("DataCollator")):
        return Instance(None, "transformers.PreTrainedModel", model=True, node=arguments.node)
    if name.startswith("get_") and name.endswith(("schedule", "scheduler", "warmup")):
        return Instance(None, "torch.optim.lr_scheduler.LambdaLR", node=arguments.node)
    if name in ("is_torch_xla_available", "is_torch_tpu_available", "is_torch_neuroncore_available"):
        return Number(True)
    if name in ("AdamW", "Adafactor"):
        return Instance(None, f"torch.optim.{name}", node=arguments.node)
    if name == "default_data_collator":
        return UNKNOWN
    machine.hand_over(arguments)
    return Instance(None, dotted, dict(arguments.keywords), node=arguments.node) if name[:1].isupper() else UNKNOWN


@function("transformers.utils.is_torch_xla_available", "transformers.utils.is_torch_tpu_available",
          "accelerate.utils.is_torch_xla_available", "accelerate.utils.is_xla_available")  # fmt: skip
def available(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """True in an XLA program."""
    return Number(True)


@objects(TOKENIZER)
def tokenizer_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A tokenizer gives host tensors."""
    if name in ("__call__", "pad", "encode_plus", "batch_encode_plus", "encode"):
        return Mapping({}, Tensor(Location.HOST))
    return TEXT if "decode" in name else UNKNOWN


@objects("transformers.")
def transformers_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Methods of other objects of the library."""
    if name == "__init__":
        return NONE
    if name in QUESTIONS:
        return RANK
    machine.hand_over(arguments)
    return UNKNOWN


@objects("transformers.PreTrainedModel")
def pretrained_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Generation gives tensors where the model is; the rest is any model's."""
    assert isinstance(receiver, Instance)
    if name == "generate":
        return machine.tensor(arguments.node, receiver.place, kind=Kind.INT, certain=receiver.certain)
    return model_method(machine, receiver, name, arguments)


# Lightning.


@objects("lightning.LightningModule")
def lightning_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """`self.log` shows a value in the progress bar, or accumulates it on the device."""
    if name in ("log", "log_dict"):
        shown = arguments.keywords.get("prog_bar")
        value = arguments.get(1 if name == "log" else 0, "value" if name == "log" else "dictionary")
        if isinstance(shown, Number) and shown.const and value is not None:
            machine.read(
                arguments.node, arguments.node_of(1, "value"), value, How.FORMAT, f"self.{name}(prog_bar=True)"
            )
        return NONE
    if name in ("save_hyperparameters", "toggle_optimizer", "untoggle_optimizer"):
        return NONE
    if name == "manual_backward":
        return machine.method(arguments.get(0) or UNKNOWN, "backward", arguments)
    return model_method(machine, receiver, name, arguments)


@objects(DATASETS)
def derived_dataset(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A dataset of Hugging Face made from another one: how many rows it has is known after `select`."""
    assert isinstance(receiver, Instance)
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


@function("lightning.", DATASETS, "evaluate.")
def framework(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Objects of a framework that runs the loops itself."""
    machine.hand_over(arguments)
    return Instance(None, dotted, node=arguments.node)


@objects("lightning.", "evaluate.")
def framework_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A framework calls the functions it is given again and again."""
    if name == "__init__":
        return NONE
    machine.hand_over(arguments)
    return UNKNOWN
