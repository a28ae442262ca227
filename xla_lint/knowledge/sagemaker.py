"""What the SageMaker Python SDK 2 accepts, and what its training images hold.

Source: `sagemaker.json`, which `scripts/write_sagemaker.py` reads out of the SDK; what is written here by hand says
where it comes from.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from xla_lint.knowledge.tables import load

MPI_LAUNCHERS = frozenset({"mpi", "pytorchddp", "smdistributed.dataparallel"})
"""The launchers that hand `custom_mpi_options` to mpirun (`Framework._distribution_configuration`)."""

NOT_IN_IMAGE = {
    "pytorch_lightning": "pytorch-lightning",
    "lightning": "lightning",
    "lightning_fabric": "lightning",
    "pl_bolts": "lightning-bolts",
}
"""Packages that no training image holds: the name to import, and the name to install.

Source: the SageMaker developer guide, "Run PyTorch training jobs with the Training Compiler" and the pages on SMDDP
with Lightning.
"""

NOT_IN_COMPILER_IMAGE = {"transformers": "transformers", "datasets": "datasets"}
"""Packages that the PyTorch image of the Training Compiler lacks besides; same source."""


class Table(NamedTuple):
    """The SDK's own lists, as the SDK spells them."""

    sdk: str
    """The release that was read."""
    launchers: frozenset[str]
    strategies: frozenset[str]
    """What may stand below `smdistributed`."""
    data_parallel_instances: frozenset[str]
    data_parallel_versions: dict[str, frozenset[str]]
    """By framework, `pytorch` or `tensorflow`."""
    torch_distributed: dict[str, frozenset[str]]
    """PyTorch versions, on `gpu` and on `trainium` instances."""
    compiler_families: frozenset[str]
    """The instance families that the Training Compiler runs on, say `p4d`."""
    several_gpus: frozenset[str]
    """The instance types of these families with more than one GPU."""
    images: dict[str, dict[str, dict[str, list[str]]]]
    """The Python versions of each training image: by framework, by version, by the framework below (`""`: none)."""

    def newest(self, framework: str) -> tuple[int, ...]:
        """The newest version of a framework that has an image; what is newer is not known."""
        return max(numbers(version) for version in self.images[framework])


@functools.cache
def table() -> Table:
    """The table."""
    raw: dict[str, Any] = load("sagemaker")
    return Table(
        raw["sdk"],
        frozenset(raw["launchers"]),
        frozenset(raw["strategies"]),
        frozenset(raw["data_parallel"]["instances"]),
        {name: frozenset(versions) for name, versions in raw["data_parallel"]["versions"].items()},
        {name: frozenset(versions) for name, versions in raw["torch_distributed"].items()},
        frozenset(raw["compiler"]["families"]),
        frozenset(raw["compiler"]["several_gpus"]),
        raw["images"],
    )


def numbers(version: str) -> tuple[int, ...]:
    """A version such as `2.0.1` as numbers; empty where it is no such version."""
    parts = version.split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()
