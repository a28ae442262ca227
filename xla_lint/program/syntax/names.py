"""Canonical dotted names: one spelling for everything that a library lets users import in several ways."""

from __future__ import annotations

import sys
from functools import lru_cache

from xla_lint.program.backend import BACKENDS, OWN_PACKAGES

MODULES = {
    "torch.functional": "torch",
    "torch.nn.modules": "torch.nn",
    "torch.nn.functional": "torch.nn.functional",
    "torch.utils.data.dataloader": "torch.utils.data",
    "torch.utils.data.dataset": "torch.utils.data",
    "torch.utils.data.distributed": "torch.utils.data",
    "torch.utils.data.sampler": "torch.utils.data",
    "torch.utils.tensorboard.writer": "torch.utils.tensorboard",
    "torch.nn.utils.clip_grad": "torch.nn.utils",
    "torch.amp.autocast_mode": "torch.amp",
    "torch.amp.grad_scaler": "torch.amp",
    "torch.autograd.function": "torch.autograd",
    "torch.autograd.grad_mode": "torch",
    "torch.autograd.anomaly_mode": "torch.autograd",
    "torch.cuda.amp.autocast_mode": "torch.cuda.amp",
    "torch.cuda.amp.grad_scaler": "torch.cuda.amp",
    "lightning.pytorch": "lightning",
    "pytorch_lightning": "lightning",
    "tqdm.auto": "tqdm",
    "tqdm.autonotebook": "tqdm",
    "tqdm.notebook": "tqdm",
    "tqdm.std": "tqdm",
    "accelerate.accelerator": "accelerate",
    "sagemaker.pytorch.estimator": "sagemaker.pytorch",
    "sagemaker.pytorch.training_compiler.config": "sagemaker.pytorch",
    "sagemaker.huggingface.estimator": "sagemaker.huggingface",
    "sagemaker.huggingface.training_compiler.config": "sagemaker.huggingface",
    "sagemaker.tensorflow.estimator": "sagemaker.tensorflow",
    "sagemaker.tensorflow.training_compiler.config": "sagemaker.tensorflow",
    "transformers.data.data_collator": "transformers",
    "transformers.data": "transformers",
    "transformers.tokenization_utils_base": "transformers",
    "transformers.tokenization_utils": "transformers",
    "transformers.tokenization_utils_fast": "transformers",
    "transformers.modeling_utils": "transformers",
    "transformers.trainer": "transformers",
    "transformers.optimization": "transformers",
    "transformers.training_args": "transformers",
    "transformers.trainer_callback": "transformers",
    **{module: public for backend in BACKENDS for module, public in backend.canonical.items()},
}
"""Modules whose members are public elsewhere."""

NAMES = {
    "accelerate.utils.DistributedType": "accelerate.DistributedType",
    "accelerate.utils.dataclasses.DistributedType": "accelerate.DistributedType",
    "accelerate.state.DistributedType": "accelerate.DistributedType",
    "accelerate.DistributedType.TPU": "accelerate.DistributedType.XLA",
    "nemo.core.ModelPT": "lightning.LightningModule",
    "nemo.core.classes.ModelPT": "lightning.LightningModule",
}
"""What is public elsewhere, had another name, or derives from a class of another library and is called in its way."""

SUBMODULES_OF_NN = frozenset(
    "activation batchnorm container conv dropout embedding linear loss module normalization padding pooling rnn "
    "sparse transformer upsampling".split()
)
TORCH_SUBMODULES = frozenset(
    {"adam", "adamw", "sgd", "optimizer", "lbfgs", "rmsprop", "adagrad", "rprop", "asgd", "radam", "nadam"}
)

STANDARD = frozenset(sys.stdlib_module_names)
KNOWN_PACKAGES = frozenset(
    "torch torchvision torchaudio torchtext torchmetrics numpy np scipy pandas sklearn matplotlib PIL cv2 "
    "tqdm wandb tensorboard tensorboardX mlflow comet_ml neptune rich absl transformers datasets tokenizers "
    "huggingface_hub safetensors evaluate peft accelerate diffusers timm einops lightning pytorch_lightning "
    "lightning_fabric hydra omegaconf yaml requests psutil webdataset fsspec boto3 sagemaker gym gymnasium nltk "
    "sentencepiece tiktoken regex jax jaxtyping flax optax colorama termcolor tabulate packaging setuptools "
    "pytest hypothesis fire click typer attr attrs pydantic loguru six joblib h5py google".split()
).union(OWN_PACKAGES)
"""Packages that are no part of the project under analysis, unless a module of that name lies beside a script."""


@lru_cache(maxsize=4096)
def canonical(dotted: str) -> str:
    """The canonical spelling of a dotted name."""
    if dotted == "torch.half":
        return "torch.float16"
    if dotted in NAMES:
        return NAMES[dotted]
    module, _, member = dotted.rpartition(".")
    if not module:
        return dotted
    if module in MODULES:
        return canonical(f"{MODULES[module]}.{member}") if MODULES[module] != module else dotted
    if dotted in MODULES:
        return MODULES[dotted]
    head, _, last = module.rpartition(".")
    if head == "torch.nn.modules" or (head == "torch.nn" and last in SUBMODULES_OF_NN):
        return f"torch.nn.{member}"
    if head == "torch.optim" and last in TORCH_SUBMODULES:
        return f"torch.optim.{member}"
    if module.startswith("torch.distributions.") and not last[:1].isupper():
        return f"torch.distributions.{member}"
    if module.startswith("transformers.models."):
        return f"transformers.{member}" if member[:1].isupper() else dotted
    if module.startswith(("pytorch_lightning.", "lightning.pytorch.")):
        return "lightning." + dotted.split(".", 1)[1].removeprefix("pytorch.")
    return dotted


def is_standard(dotted: str) -> bool:
    """True for a name of Python's own library."""
    return dotted.partition(".")[0] in STANDARD


def is_foreign(dotted: str) -> bool:
    """True where a name surely belongs to a library, so that calling it cannot run the project's own code."""
    package = dotted.partition(".")[0]
    return package in STANDARD or package in KNOWN_PACKAGES
