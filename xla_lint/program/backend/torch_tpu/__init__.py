"""TorchTPU, the native backend of PyTorch for TPUs.

By its documentation and its source of 2026 (google-pytorch.github.io/torch_tpu); no program was run on it.
"""

from __future__ import annotations

from xla_lint.program.backend.backend import Backend, Charge, Mode, Property, Release, Role

ALWAYS: Release = (0, 0)
MODULE = "torch.tpu."
INTERNAL = "torch_tpu._internal."
EXECUTION_MODE = INTERNAL + "execution_mode."
OWN_OPTIMIZERS = INTERNAL + "optim."

FUNCTIONS = {
    Role.DEVICE: ("torch_tpu.api.tpu_device",),
    Role.IDLE: (MODULE + "synchronize", INTERNAL + "sync.synchronize"),
    Role.PRESENCE: (MODULE + "is_available",),
    Role.START: (MODULE + "current_device", MODULE + "set_device"),
    Role.OTHER: (MODULE, "torch_tpu."),
    Role.OPTIMIZERS: (OWN_OPTIMIZERS,),
    Role.COMPILER: (INTERNAL + "compile.TpuBackend",),
    Role.CONTEXT: (MODULE + "precision", EXECUTION_MODE + "eager_mode", EXECUTION_MODE + "set_eager_mode"),
}
WRITTEN = {
    Role.COUNT: ((ALWAYS, "dist.get_world_size()"),),
    Role.RANK: ((ALWAYS, "dist.get_rank()"),),
    Role.AUTOCAST: ((ALWAYS, 'torch.autocast("tpu", dtype=torch.bfloat16)'),),
    Role.COMPILE: ((ALWAYS, 'torch.compile(f, backend="tpu", dynamic=False)'),),
    Role.WAIT: ((ALWAYS, "torch.tpu.synchronize()"),),
}

BACKEND = Backend(
    name="torch_tpu",
    device_type="tpu",
    project="TorchTPU",
    called="TPU",
    charges={Mode.EAGER: Charge.WAITS, Mode.FUSED: Charge.CUTS, Mode.COMPILED: Charge.BREAKS},
    functions=FUNCTIONS,
    written=WRITTEN,
    properties=frozenset(
        {
            Property.REPLACES_PARAMETERS,
            Property.KEEPS_OFFSETS,
            Property.OWN_DEVICE_ONLY,
            Property.REJECTS_SYMBOLS,
            Property.DYNAMIC_RAISES,
            Property.MODELESS,
            Property.MODE_RAISES,
            Property.FIXED_SCALARS,
            Property.CUTS_VIEWS_OF_INFERENCE,
            Property.GROWS_BY_TOKEN,
            Property.SUCCEEDS_XLA,
        }
    ),
    packages=frozenset({"torch_tpu"}),
    driving=frozenset({"torch_tpu"}),
    marks=("torch_tpu", "torch.tpu", "tpu_dist"),
    named_by_device=True,
    others=("torch_tpu.tpu", ".tpu()", "scclHost"),
    mode_names={EXECUTION_MODE + "EagerMode.DEFER_AND_FUSE": Mode.FUSED},
    mode_variables={"TORCH_TPU_DEFER_AND_FUSE": Mode.FUSED, "TPU_DEFER_AND_FUSE": Mode.FUSED},
    reads_variables=("TORCH_TPU_", "TPU_", "LIBTPU_INIT_ARGS", "XLA_FLAGS"),
    ignores_variables=(
        "PJRT_DEVICE", "XLA_USE_BF16", "XLA_DOWNCAST_BF16", "XLA_USE_F16", "XLA_USE_FP16", "XLA_DOWNCAST_FP16",
        "XLA_USE_32BIT_LONG", "XLA_USE_SPMD", "XLA_IR_DEBUG", "XLA_HLO_DEBUG", "PT_XLA_DEBUG", "XLA_SAVE_TENSORS_",
        "XLA_NO_SPECIAL_SCALARS", "XRT_",
    ),
    choices=frozenset({"tpu"}),
    fetching=frozenset({"histc", "ctc_loss"}),
    compilers=("tpu",),
    process_group="tpu_dist",
)  # fmt: skip
