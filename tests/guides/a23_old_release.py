from sagemaker.huggingface import HuggingFace, TrainingCompilerConfig

CLUSTER = {"role": "training", "instance_count": 1, "instance_type": "ml.p3.16xlarge"}

HuggingFace(  # expect: xla-sagemaker-compiler
    "py38", "train.py", "4.11.0", pytorch_version="1.9.0", compiler_config=TrainingCompilerConfig(), **CLUSTER
)
