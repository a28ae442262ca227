"""PyTorch/XLA and its kin: torch_neuronx, neuronx_distributed, optimum.neuron, optimum.tpu and torchacc.

Names and spellings are those of torch_xla 1.11 to 2.9.
"""

from __future__ import annotations

from xla_lint.knowledge.runtime_calls import initialises
from xla_lint.program.backend.backend import Backend, Charge, Mode, Property, Release, Role
from xla_lint.program.backend.torch_xla.names import (
    ALIASES,
    ENTRY,
    HOST_REDUCE,
    LAUNCH,
    LOADERS,
    MULTIPROCESSING,
    PACKAGE,
    PROFILER,
    RUNTIME,
    SCALER,
    SERIALIZATION,
    SPAWN,
    SYNCFREE,
    XLA_MODEL,
)

ALWAYS: Release = (0, 0)
KIN = frozenset({"torch_neuronx", "neuronx_distributed", "neuronx_distributed_training", "torch_xla2", "torchacc"})


def below(module: str, *members: str) -> tuple[str, ...]:
    """The dotted names of a module's members."""
    return tuple(module + member for member in members)


FUNCTIONS = {
    Role.DEVICE: ("torch_xla.device", XLA_MODEL + "xla_device"),
    Role.DEVICES: ("torch_xla.devices", XLA_MODEL + "xla_real_devices"),
    Role.BARRIER: ("torch_xla.sync", XLA_MODEL + "mark_step"),
    Role.OPTIMIZER_STEP: below(XLA_MODEL, "optimizer_step"),
    Role.STEP_REGION: ("torch_xla.step",),
    Role.TRACED_STEP: below(PROFILER, "StepTrace"),
    Role.TRACE: below(PROFILER, "Trace"),
    Role.COMPILE: ("torch_xla.compile", "torch_xla.experimental.compile"),
    Role.HOST_REDUCE: (HOST_REDUCE,),
    Role.RENDEZVOUS: below(XLA_MODEL, "rendezvous"),
    Role.COLLECTIVE: below(
        XLA_MODEL, "all_reduce", "all_gather", "all_to_all", "reduce_scatter", "collective_permute",
        "collective_broadcast", "all_gather_bucketized", "reduce_scatter_bucketized",
    ),
    Role.BROADCAST: below(XLA_MODEL, "broadcast_master_param"),
    Role.REDUCE_GRADIENTS: below(XLA_MODEL, "reduce_gradients"),
    Role.REDUCE_LIST: below(XLA_MODEL, "all_reduce_bucketized_gradients"),
    Role.ON_SOME: below(XLA_MODEL, "do_on_ordinals"),
    Role.IDLE: below(XLA_MODEL, "wait_device_ops", "set_rng_state"),
    Role.PRINT: below(XLA_MODEL, "master_print"),
    Role.RANK: (
        *below(XLA_MODEL, "get_ordinal", "get_local_ordinal", "is_master_ordinal"),
        *below(RUNTIME, "global_ordinal", "local_ordinal", "process_index"),
    ),
    Role.COUNT: (
        XLA_MODEL + "xrt_world_size",
        *below(RUNTIME, "world_size", "global_runtime_device_count", "global_device_count", "local_device_count"),
        "torch_xla.device_count",
    ),
    Role.CHECKPOINT: ("torch_xla.utils.checkpoint.checkpoint",),
    Role.SEND: below(XLA_MODEL, "send_cpu_data_to_device"),
    Role.FETCH: below(XLA_MODEL, "_maybe_convert_to_cpu"),
    Role.TRACKER: below(XLA_MODEL, "RateTracker"),
    Role.OTHER: ("torch_xla.",),
    Role.LAUNCH: (SPAWN, LAUNCH),
    Role.SHARED_MODEL: below(MULTIPROCESSING, "MpModelWrapper"),
    Role.THREADS: ("torch_xla.distributed.data_parallel.DataParallel",),
    Role.STEP_CLOSURE: below(XLA_MODEL, "add_step_closure"),
    Role.SCALER: (SCALER,),
    Role.SAVE: (XLA_MODEL + "save", SERIALIZATION + "save"),
    Role.LOADER: below(LOADERS, "MpDeviceLoader"),
    Role.SINGLE_PASS_LOADER: below(LOADERS, "ParallelLoader", "PerDeviceLoader"),
    Role.WRITER: ("torch_xla.test.test_utils.get_summary_writer",),
    Role.OPTIMIZERS: (SYNCFREE,),
    Role.TRAINERS: ("optimum.neuron.",),
}  # fmt: skip
WRITTEN = {
    Role.BARRIER: ((ALWAYS, "xm.mark_step()"), ((2, 4), "torch_xla.sync()")),
    Role.COUNT: ((ALWAYS, "xm.xrt_world_size()"), ((2, 5), "xr.world_size()")),
    Role.RANK: ((ALWAYS, "xm.get_ordinal()"), ((2, 5), "xr.global_ordinal()")),
    Role.SAVE: ((ALWAYS, "xm.save"),),
    Role.LOADER: ((ALWAYS, "MpDeviceLoader"),),
    Role.SINGLE_PASS_LOADER: ((ALWAYS, "ParallelLoader"),),
    Role.STEP_CLOSURE: ((ALWAYS, "xm.add_step_closure"),),
    Role.OPTIMIZER_STEP: ((ALWAYS, "xm.optimizer_step(optimizer)"),),
    Role.REDUCE_GRADIENTS: ((ALWAYS, "xm.reduce_gradients(optimizer)"),),
    Role.COLLECTIVE: ((ALWAYS, "xm.all_reduce"),),
    Role.AUTOCAST: ((ALWAYS, 'torch.autocast("xla", dtype=torch.bfloat16)'),),
    Role.COMPILE: ((ALWAYS, "torch_xla.compile"),),
    Role.CHECKPOINT: ((ALWAYS, "torch_xla.utils.checkpoint.checkpoint"),),
    Role.WAIT: ((ALWAYS, "xm.wait_device_ops()"),),
    Role.MEMORY: ((ALWAYS, "xm.get_memory_info(device)"),),
}

BACKEND = Backend(
    name=PACKAGE,
    device_type="xla",
    project="PyTorch/XLA",
    called="XLA",
    charges={Mode.LAZY: Charge.EXECUTES},
    functions=FUNCTIONS,
    written=WRITTEN,
    aliases=ALIASES,
    properties=frozenset({Property.REPLACES_PARAMETERS, Property.KEEPS_OFFSETS, Property.GROWS_BY_TOKEN}),
    canonical={
        "torch_xla.amp.autocast_mode": "torch_xla.amp",
        "torch_xla.amp.grad_scaler": "torch_xla.amp",
        "torch_xla.torch_xla": "torch_xla",
        "neuronx_distributed.lightning.NeuronLTModule": "lightning.LightningModule",
        "neuronx_distributed.plugins.lightning.NeuronLTModule": "lightning.LightningModule",
    },
    packages=KIN | {PACKAGE},
    modules=(
        "optimum.neuron",
        "optimum.tpu",
        "lightning.pytorch.strategies.xla",
        "pytorch_lightning.strategies.xla",
        "lightning.strategies.xla",
    ),
    driving=frozenset({PACKAGE, "torchacc"}),
    core=(PACKAGE, "torch_xla.core", "torch_xla.core.xla_model"),
    marks=(
        PACKAGE, "neuronx", "torchacc", "optimum.neuron", "optimum.tpu", "strategies.xla", ENTRY,
        '"tpu"', "'tpu'", '"xla', "'xla",
    ),
    choices=frozenset({"xla", "tpu", "neuron"}),
    compilers=("openxla", "torchxla", "aot_torchxla"),
    process_group="xla",
    process_group_module=f"{PACKAGE}.distributed.xla_backend",
    replica_function=ENTRY,
    presence_tests=frozenset(
        {"is_torch_xla_available", "is_torch_tpu_available", "is_torch_neuroncore_available", "is_xla_available"}
    ),
    rank_variables=frozenset({"PJRT_LOCAL_PROCESS_RANK"}),
    wrappers=frozenset({"XlaFullyShardedDataParallel", "SpmdFullyShardedDataParallel", "mark_sharding"}),
    initialises=initialises,
    is_assumed=True,
)  # fmt: skip
