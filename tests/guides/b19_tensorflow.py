from sagemaker.tensorflow import TensorFlow

SMDDP = {"smdistributed": {"dataparallel": {"enabled": True}}}

TensorFlow(  # expect: xla-sagemaker-instance
    "py39",
    "2.11.0",
    entry_point="train.py",
    role="training",
    instance_count=2,
    instance_type="ml.g5.48xlarge",
    distribution=SMDDP,
)
