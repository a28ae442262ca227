"""Calls that initialise the XLA runtime in the process that makes them.

Source: each was called first in a process of its own with torch_xla 2.9.0 on the CPU device, and
`_XLAC._xla_runtime_is_initialized` asked before and after. By reading accelerate 1.15 and transformers 4.57:
`Accelerator` and the training arguments, which ask for their device when they are made. Making or moving a tensor or a
model with `device="xla"` initialises the runtime in the same way, `torch.device("xla")` does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.knowledge.api import exists

if TYPE_CHECKING:
    from xla_lint.knowledge.releases import Release

PJRT_ALONE: Release = (2, 1)
"""The first release without the XRT runtime, which kept the world's size and the ordinal in environment variables."""
ONCE_VARIABLES = frozenset({"torch_xla.core.xla_model.xrt_world_size", "torch_xla.core.xla_model.get_ordinal"})
INITIALISING = frozenset(
    {
        *(f"torch_xla.{name}" for name in ("device", "devices", "device_count", "real_devices", "manual_seed", "sync")),
        *(
            f"torch_xla.runtime.{name}"
            for name in (
                "addressable_device_count",
                "addressable_runtime_device_count",
                "global_device_count",
                "global_ordinal",
                "global_runtime_device_count",
                "local_device_count",
                "local_ordinal",
                "process_count",
                "process_index",
                "world_size",
            )
        ),
        *(
            f"torch_xla.core.xla_model.{name}"
            for name in (
                "get_local_ordinal",
                "get_rng_state",
                "get_xla_supported_devices",
                "is_master_ordinal",
                "mark_step",
                "master_print",
                "set_rng_state",
                "wait_device_ops",
                "xla_device",
                "xla_real_devices",
            )
        ),
        "accelerate.Accelerator",
        "transformers.TrainingArguments",
        "transformers.Seq2SeqTrainingArguments",
    }
)
"""The dotted names of these calls."""


def initialises(dotted: str, target: Release) -> bool:
    """Whether a call initialises the runtime in a release; one of a name that is gone there raises instead."""
    listed = dotted in INITIALISING or (dotted in ONCE_VARIABLES and target >= PJRT_ALONE)
    return listed and exists(dotted, target) is not False
