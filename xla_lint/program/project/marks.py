"""How programs of XLA, of Accelerate and of SageMaker are spelled: packages, arguments, launchers. Data alone."""

from __future__ import annotations

XLA_PACKAGES = frozenset(
    {"torch_xla", "torch_neuronx", "neuronx_distributed", "neuronx_distributed_training", "torch_xla2", "torchacc"}
)
"""Packages whose import makes a module part of an XLA program."""
XLA_MODULES = (
    "optimum.neuron",
    "optimum.tpu",
    "lightning.pytorch.strategies.xla",
    "pytorch_lightning.strategies.xla",
    "lightning.strategies.xla",
)
"""Modules of other packages of which the same holds; the last one is the canonical name of the two before it."""
DEVICE_PACKAGES = frozenset({"torch_xla", "torchacc"})
"""Packages with which a module drives the device itself."""
TORCH_PACKAGES = frozenset({"torch", "transformers", "accelerate", "lightning", "pytorch_lightning"})
"""Packages whose import makes a module one that uses torch."""
LIGHTNING = ("lightning", "pytorch_lightning")
REPLICA_FUNCTION = "_mp_fn"
"""The function that launchers of replicas look for in a script."""
ACCELERATORS = ("accelerate", "accelerate.Accelerator", "accelerate.accelerator.Accelerator")
"""What a module imports that builds an `Accelerator`."""
ACCELERATOR = "Accelerator"
SAGEMAKER = "sagemaker"
SAGEMAKER_XLA = ("TrainingCompilerConfig(", "pytorchxla", '"ml.trn', "'ml.trn")
"""What a launch script of SageMaker holds that starts a training job on XLA."""
SCRIPTS = ("__main__", REPLICA_FUNCTION)
"""What a file holds that may run as a script though others import it."""
XLA_MARKS = (
    "torch_xla", "neuronx", "torchacc", "optimum.neuron", "optimum.tpu", "strategies.xla", REPLICA_FUNCTION,
    '"tpu"', "'tpu'", '"xla', "'xla",
)  # fmt: skip
"""A module whose source holds none of these takes part in no XLA program by its own statements."""
