from sagemaker.pytorch import PyTorch

CLUSTER = {"role": "training", "instance_count": 2, "instance_type": "ml.p4d.24xlarge"}
VERSIONS = {"framework_version": "2.0.1", "py_version": "py310"}

PyTorch(  # expect: xla-sagemaker-instance
    "train.py",
    role="training",
    instance_count=2,
    instance_type="ml.g5.48xlarge",
    distribution={"smdistributed": {"dataparallel": {"enabled": True}}},
    **VERSIONS,
)
