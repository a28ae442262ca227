from sagemaker.pytorch import PyTorch

CLUSTER = {"role": "training", "instance_count": 2, "instance_type": "ml.p4d.24xlarge"}
VERSIONS = {"framework_version": "2.0.1", "py_version": "py310"}

PyTorch(  # expect: xla-sagemaker-distribution
    "train.py",
    "1.13.1",
    "py39",
    role="training",
    instance_count=1,
    instance_type="ml.p3.2xlarge",
    distribution={"torchxla": {"enabled": True}},
)
