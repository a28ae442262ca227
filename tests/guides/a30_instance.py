from sagemaker.pytorch import PyTorch, TrainingCompilerConfig

XLA = {"pytorchxla": {"enabled": True}}

PyTorch(  # expect: xla-sagemaker-instance
    "train.py",
    "1.13.1",
    "py39",
    role="training",
    instance_count=1,
    instance_type="ml.c5.xlarge",
    distribution=XLA,
    compiler_config=TrainingCompilerConfig(),
)
