from sagemaker.tensorflow import TensorFlow

SMDDP = {"smdistributed": {"dataparallel": {"enabled": True}}}

TensorFlow(  # expect: xla-sagemaker-version
    "py38",
    "2.11.0",
    entry_point="train.py",
    role="training",
    instance_count=2,
    instance_type="ml.p4d.24xlarge",
    distribution=SMDDP,
)
