"""PyTorch/XLA: the dotted names that rules look for in a program, and the spellings that their messages recommend.

A release is a pair of numbers, say `(2, 9)`. Names and releases are those of torch_xla 1.11 to 2.9.
"""

from __future__ import annotations

Release = tuple[int, int]

XLA_MODEL = "torch_xla.core.xla_model."
RUNTIME = "torch_xla.runtime."
SYNCFREE = "torch_xla.amp.syncfree."
"""The package of optimizers that skip a step on the device where gradients overflowed."""

# What programs call.

LAUNCH = "torch_xla.launch"
SPAWN = "torch_xla.distributed.xla_multiprocessing.spawn"
SPAWN_REFUSES_COUNT = (2, 6)
"""The first release whose `spawn` raises for any number of processes but one."""
LAUNCH_PICKLES = (2, 1)
"""The first release without the XRT runtime, whose `fork` needed no pickling."""
ENTRY = "_mp_fn"
"""The function that launchers of whole scripts call in each replica."""
TORCHRUN_PACKAGES = ("torch_neuronx", "neuronx_distributed", "optimum", "torch_xla.distributed.xla_backend")
"""Packages of programs that torchrun starts, which need no `ENTRY`."""
USE_SPMD = RUNTIME + "use_spmd"
SHARDING = frozenset({"XlaFullyShardedDataParallel", "SpmdFullyShardedDataParallel", "mark_sharding", "use_spmd"})
"""Wrappers and functions, by their last name, that spread a model and reduce its gradients themselves."""
ALL_REDUCE = XLA_MODEL + "all_reduce"
HOST_REDUCE = XLA_MODEL + "mesh_reduce"
RENDEZVOUS = {XLA_MODEL + "rendezvous": 1, XLA_MODEL + "xla_rendezvous": 0}
"""Meetings of all replicas, and the position of the payload, without which one is only a barrier."""
RENDEZVOUS_GATHERS = (2, 1)
"""The first release without XRT's mesh service, whose meetings are collectives of the device."""
SCALER = "torch_xla.amp.GradScaler"
LAST_SCALER = (2, 8)
"""The last release with `SCALER` (removed in 2.9 by pull request 9608)."""
SYNCFREE_TWINS = {f"torch.optim.{name}": name for name in ("SGD", "Adam", "AdamW")}
"""The stock optimizers that have a twin in `SYNCFREE`."""
SAVES = frozenset({XLA_MODEL + "save", "torch_xla.utils.serialization.save"})
"""torch_xla's own ways to save: all replicas run what is pending for them (torch_xla 2.9.0)."""
LAST_WAITING_SAVE = (2, 0)
"""The last release in which `SAVES` ended in a rendezvous."""
FIRST_AUTOCAST = (2, 1)
"""The first release in which XLA tensors have an autocast mode of their own; before, they shared CUDA's."""

COMPILER_BACKENDS = ("openxla", "torchxla", "aot_torchxla", "neuron", "tpu")
"""How the names begin of the backends of `torch.compile` whose graphs run on the device when they are called."""

# What messages say.

COMPILE_STEP = "torch_xla.compile"
COMPILED_MODEL = "torch.compile"
"""How events spell the barrier that a call of a model is which one of `COMPILER_BACKENDS` has compiled."""

SPELLED_SAVES = frozenset({"xm.save", "xser.save"})
"""How events spell `SAVES`."""
SAVE = "xm.save"
DEVICE_LOADER = "MpDeviceLoader"
SINGLE_PASS_LOADER = "ParallelLoader"
STEP_CLOSURE = "xm.add_step_closure"
OPTIMIZER_STEP = "xm.optimizer_step(optimizer)"
REDUCE_GRADIENTS = "xm.reduce_gradients(optimizer)"
AUTOCAST = 'torch.autocast("xla", dtype=torch.bfloat16)'
CHECKPOINT = "torch_xla.utils.checkpoint.checkpoint"
WAIT = "xm.wait_device_ops()"
MEMORY = "xm.get_memory_info(device)"
TRAINER_OPTIMIZER = "adamw_torch_xla"
"""The name by which `TrainingArguments(optim=)` chooses the syncfree AdamW."""


def spelled(dotted: str) -> str:
    """A dotted name as people write it: functions of `xla_model` behind `xm`, those of the runtime behind `xr`."""
    for package, alias in ((XLA_MODEL, "xm."), (RUNTIME, "xr.")):
        if dotted.startswith(package):
            return alias + dotted.removeprefix(package)
    return dotted


def barrier(target: Release) -> str:
    """The call that cuts the graph."""
    return "torch_xla.sync()" if target >= (2, 4) else "xm.mark_step()"


def world_size(target: Release) -> str:
    """The call that gives the number of replicas."""
    return "xr.world_size()" if target >= (2, 5) else "xm.xrt_world_size()"


def ordinal(target: Release) -> str:
    """The call that gives a replica its own number."""
    return "xr.global_ordinal()" if target >= (2, 5) else "xm.get_ordinal()"
