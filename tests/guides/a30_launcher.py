from sagemaker.pytorch import PyTorch, TrainingCompilerConfig

XLA = {"pytorchxla": {"enabled": True}}

PyTorch(  # expect: xla-sagemaker-compiler
    "train.py", "1.13.1", "py39", role="training", instance_count=1, instance_type="ml.p3.2xlarge", distribution=XLA
)
