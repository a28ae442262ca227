"""The dotted names of torch_xla that rules about it look for, and the releases that matter to them.

Names and releases are those of torch_xla 1.11 to 2.9.
"""

from __future__ import annotations

PACKAGE = "torch_xla"
XLA_MODEL = "torch_xla.core.xla_model."
RUNTIME = "torch_xla.runtime."
MULTIPROCESSING = "torch_xla.distributed.xla_multiprocessing."
LOADERS = "torch_xla.distributed.parallel_loader."
PROFILER = "torch_xla.debug.profiler."
SERIALIZATION = "torch_xla.utils.serialization."
SYNCFREE = "torch_xla.amp.syncfree."
"""The package of optimizers that skip a step on the device where gradients overflowed."""

LAUNCH = "torch_xla.launch"
SPAWN = MULTIPROCESSING + "spawn"
SPAWN_REFUSES_COUNT = (2, 6)
"""The first release whose `spawn` raises for any number of processes but one."""
LAUNCH_PICKLES = (2, 1)
"""The first release without the XRT runtime, whose `fork` needed no pickling."""
ENTRY = "_mp_fn"
"""The function that launchers of whole scripts call in each replica."""
LAUNCHER = "xla_spawn"
"""The best known of these launchers, which comes with examples of Transformers."""
TORCHRUN_PACKAGES = ("torch_neuronx", "neuronx_distributed", "optimum", "torch_xla.distributed.xla_backend")
"""Packages of programs that torchrun starts, which need no `ENTRY`."""
USE_SPMD = RUNTIME + "use_spmd"
SHARDING = frozenset({"XlaFullyShardedDataParallel", "SpmdFullyShardedDataParallel", "mark_sharding", "use_spmd"})
"""Wrappers and functions, by their last name, that spread a model and reduce its gradients themselves."""
SHARDING_PACKAGES = ("neuronx_distributed.",)
"""Packages of which the same holds."""
ALL_REDUCE = XLA_MODEL + "all_reduce"
HOST_REDUCE = XLA_MODEL + "mesh_reduce"
RENDEZVOUS = {XLA_MODEL + "rendezvous": 1, XLA_MODEL + "xla_rendezvous": 0}
"""Meetings of all replicas, and the position of the payload, without which one is only a barrier."""
SCALER = "torch_xla.amp.GradScaler"
LAST_SCALER = (2, 8)
"""The last release with `SCALER` (removed in 2.9 by pull request 9608)."""
SYNCFREE_TWINS = {f"torch.optim.{name}": name for name in ("SGD", "Adam", "AdamW")}
"""The stock optimizers that have a twin in `SYNCFREE`."""
LAST_WAITING_SAVE = (2, 0)
"""The last release in which torch_xla's own ways to save ended in a rendezvous."""
FIRST_AUTOCAST = (2, 1)
"""The first release in which XLA tensors have an autocast mode of their own; before, they shared CUDA's."""
TRAINER_OPTIMIZER = "adamw_torch_xla"
"""The name by which `TrainingArguments(optim=)` chooses the syncfree AdamW."""
ALIASES = ((XLA_MODEL, "xm."), (RUNTIME, "xr."), (PROFILER, "xp."), (SERIALIZATION, "xser."), (SYNCFREE, "syncfree."))
