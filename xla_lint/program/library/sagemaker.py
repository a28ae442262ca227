"""SageMaker's Python SDK: what an estimator is given as its compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.values import Instance, Value
from xla_lint.program.library.registry import function

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


@function(
    "sagemaker.pytorch.TrainingCompilerConfig",
    "sagemaker.huggingface.TrainingCompilerConfig",
    "sagemaker.tensorflow.TrainingCompilerConfig",
)
def compiler_config(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The Training Compiler's configuration; an estimator takes that of its own package alone."""
    return Instance(None, dotted, dict(arguments.keywords), node=arguments.node)
