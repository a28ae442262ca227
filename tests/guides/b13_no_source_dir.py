"""This script is its own entry point, as a job that needs Lightning."""

import lightning
from sagemaker.pytorch import PyTorch

CLUSTER = {"role": "training", "instance_count": 1, "instance_type": "ml.p4d.24xlarge"}
VERSIONS = {"framework_version": "2.0.1", "py_version": "py310"}

PyTorch("b13_no_source_dir.py", **CLUSTER, **VERSIONS)  # expect: xla-sagemaker-requirements
