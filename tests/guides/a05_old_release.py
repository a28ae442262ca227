from sagemaker.huggingface import HuggingFace, TrainingCompilerConfig

CLUSTER = {"role": "training", "instance_count": 1, "instance_type": "ml.p3.16xlarge"}

HuggingFace(  # expect: xla-sagemaker-compiler
    "py38", "run_glue.py", "4.17.0", pytorch_version="1.10.2", compiler_config=TrainingCompilerConfig(), **CLUSTER
)
