from sagemaker.pytorch import PyTorch

CLUSTER = {"role": "training", "instance_count": 2, "instance_type": "ml.p4d.24xlarge"}
VERSIONS = {"framework_version": "2.0.1", "py_version": "py310"}

PyTorch("train.py", distribution={"pytorchddp": {}}, **CLUSTER, **VERSIONS)  # expect: xla-sagemaker-distribution
