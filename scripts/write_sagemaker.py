"""Write the SageMaker table anew from the SDK that is installed: `python scripts/write_sagemaker.py`.

It needs `sagemaker` 2; linting does not.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import json
import re
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent.parent / "xla_lint" / "knowledge" / "sagemaker.json"
ESTIMATORS = ("sagemaker.estimator", "sagemaker.pytorch.estimator", "sagemaker.huggingface.estimator")
REGION = "us-east-1"
"""Where the GPUs of each instance type are looked up; a region differs in what it offers, not in what a type is."""


def table() -> dict[str, Any]:
    """What the installed SDK says.

    Raises:
        ModuleNotFoundError: SDK 2 is not installed.
    """
    utilities: Any = importlib.import_module("sagemaker.fw_utils")
    compiler: Any = importlib.import_module("sagemaker.pytorch.training_compiler.config")
    gpus: dict[str, dict[str, int]] = importlib.import_module("sagemaker.instance_types_gpu_info").retrieve(REGION)
    families = compiler.TrainingCompilerConfig.SUPPORTED_INSTANCE_CLASS_PREFIXES
    return {
        "source": "SageMaker Python SDK: fw_utils, the estimators, training_compiler, image_uri_config",
        "sdk": importlib.metadata.version("sagemaker"),
        "launchers": launchers(),
        "strategies": utilities.SMDISTRIBUTED_SUPPORTED_STRATEGIES,
        "data_parallel": {
            "instances": list(utilities.SM_DATAPARALLEL_SUPPORTED_INSTANCE_TYPES),
            "versions": utilities.SM_DATAPARALLEL_SUPPORTED_FRAMEWORK_VERSIONS,
        },
        "torch_distributed": {
            "gpu": utilities.TORCH_DISTRIBUTED_GPU_SUPPORTED_FRAMEWORK_VERSIONS,
            "trainium": utilities.TRAINIUM_SUPPORTED_TORCH_DISTRIBUTED_FRAMEWORK_VERSIONS,
        },
        "compiler": {
            "families": families,
            "several_gpus": sorted(
                name for name, info in gpus.items() if info["Count"] > 1 and name.split(".")[1] in families
            ),
        },
        "images": {
            name: images(name)
            for name in (
                "pytorch",
                "pytorch-training-compiler",
                "tensorflow",
                "huggingface",
                "huggingface-training-compiler",
            )
        },
    }


def launchers() -> list[str]:
    """The keys of `distribution` that the estimators look for, `instance_groups` apart, which is no launcher."""
    keys: set[str] = set()
    for name in ESTIMATORS:
        keys.update(re.findall(r'"(\w+)" in distribution\b(?!\[)', inspect.getsource(importlib.import_module(name))))
    return sorted(keys - {"instance_groups"})


def images(framework: str) -> dict[str, dict[str, list[str]]]:
    """The Python versions of each training image: by version, then by framework (`""` for the version's own)."""
    folder = importlib.import_module("sagemaker.image_uris").__file__
    assert folder is not None
    text = (Path(folder).parent / "image_uri_config" / f"{framework}.json").read_text(encoding="utf-8")
    config: dict[str, Any] = json.loads(text)
    config = config.get("training", config)
    found = {version: _pythons(entry) for version, entry in config["versions"].items()}
    return {**found, **{short: found[full] for short, full in config["version_aliases"].items()}}


def _pythons(entry: dict[str, Any]) -> dict[str, list[str]]:
    if "py_versions" in entry:
        return {"": entry["py_versions"]}
    aliases = entry.get("version_aliases", {})
    inner = {name: part for name, part in entry.items() if name != "version_aliases"}
    if "py3" in inner:
        return {"": sorted(inner)}
    found: dict[str, list[str]] = {name: part["py_versions"] for name, part in inner.items()}
    return {**found, **{short: found[full] for short, full in aliases.items()}}


def main() -> None:
    """Replace the table."""
    TABLE.write_text(json.dumps(table(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
