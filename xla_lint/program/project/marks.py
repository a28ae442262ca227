"""How programs of frameworks, of Accelerate and of SageMaker are spelled: packages, arguments, launchers. Data alone.

What is a backend's own stands in `xla_lint.program.backend`.
"""

from __future__ import annotations

TORCH_PACKAGES = frozenset({"torch", "transformers", "accelerate", "lightning", "pytorch_lightning"})
"""Packages whose import makes a module one that uses torch."""
ACCELERATORS = ("accelerate", "accelerate.Accelerator", "accelerate.accelerator.Accelerator")
"""What a module imports that builds an `Accelerator`."""
ACCELERATOR = "Accelerator"
SAGEMAKER = "sagemaker"
SAGEMAKER_XLA = ("TrainingCompilerConfig(", "pytorchxla", '"ml.trn', "'ml.trn")
"""What a launch script of SageMaker holds that starts a training job on XLA."""
MAIN = "__main__"
"""What a file holds that may run as a script though others import it."""
