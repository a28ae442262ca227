"""This script is its own entry point, as a job of the compiler that lacks `_mp_fn`."""

from sagemaker.pytorch import PyTorch, TrainingCompilerConfig

XLA = {"pytorchxla": {"enabled": True}}
VERSIONS = {"framework_version": "1.13.1", "py_version": "py39", "compiler_config": TrainingCompilerConfig()}
CLUSTER = {"role": "training", "instance_count": 2, "instance_type": "ml.p4d.24xlarge"}

PyTorch("a23_no_mp_fn.py", distribution=XLA, **VERSIONS, **CLUSTER)  # expect: xla-sagemaker-compiler
