"""How programs ask frameworks for XLA: arguments, classes, tests, variables of the environment. Data alone.

By the sources of lightning 1.0 to 2.6, accelerate 0.20 to 1.15, transformers 4 and 5, torch_xla 1.11 to 2.9.
"""

from __future__ import annotations

LIGHTNING = ("lightning", "pytorch_lightning", "lightning_fabric")
TRAINERS = (*LIGHTNING, "transformers", "accelerate", "trl", "peft", "optimum", "setfit", "sentence_transformers")
"""Packages that run training loops, or the device, for a program."""
FRAMEWORKS = frozenset({*TRAINERS, "diffusers", "timm", "ignite", "catalyst", "fastai"})
"""Packages that are libraries in their own checkout too: what they say of XLA they say for those who use them."""
TORCH = ("torch", *TRAINERS, "diffusers", "timm")
"""Packages of which a program that sets variables for torch_xla imports one."""
XLA_PARTS = ("xla", "tpu")
"""What the names of Lightning's modules and classes for XLA hold, in any case: `XLAStrategy`, `accelerators.tpu`."""

CHOSEN = {
    "accelerator": ("tpu", "xla"),
    "strategy": ("tpu", "xla", "single_tpu", "single_xla"),
    "profiler": ("xla",),
    "optim": ("adamw_torch_xla",),
    "debug": ("tpu_metrics_debug",),
    "backend": ("openxla", "torchxla", "aot_torchxla"),
    "torch_compile_backend": ("openxla", "torchxla"),
    "dynamo_backend": ("openxla", "torchxla", "aot_torchxla"),
}
"""Arguments, and how their values begin that ask for XLA; in any case."""
COUNTED = frozenset({"tpu_cores", "num_tpu_cores", "tpu_num_cores"})
"""Arguments that ask for XLA by any value but none, zero and False."""
SWITCHED = frozenset({"tpu_metrics_debug"})
"""Arguments that ask for XLA where they are set."""
SWITCHED_INSIDE = frozenset({"xla", "xla_fsdp_v2", "xla_fsdp_settings"})
"""Keys that do so in a dict that is an argument."""
NESTED = frozenset({"fsdp_config", "trainer_defaults"})
"""Arguments that are dicts of options."""
POSITIONAL = {"Fabric": "accelerator"}
"""The first argument of a class, where it can be given by position."""
COMMAND_LINES = frozenset({"args", "argv"})
"""Arguments that are lists of options as a command line has them."""

AVAILABILITY = frozenset(
    {"is_torch_xla_available", "is_torch_tpu_available", "is_tpu_available", "is_xla_available",
     "is_torch_neuroncore_available", "is_torch_neuronx_available"}
)  # fmt: skip
"""Functions that tell whether torch_xla is there, in accelerate, transformers and diffusers."""
KINDS = {
    "DistributedType": frozenset({"XLA", "TPU"}),
    "ParallelMode": frozenset({"TPU"}),
    "OptimizerNames": frozenset({"ADAMW_TORCH_XLA"}),
    "DebugOption": frozenset({"TPU_METRICS_DEBUG"}),
}
"""The members of enumerations that stand for XLA."""
KIND_ATTRIBUTES = {"distributed_type": frozenset({"XLA", "TPU"}), "parallel_mode": frozenset({"TPU", "tpu"})}
"""Attributes that hold one of these, which is a text too."""
KIND_VARIABLES = {"ACCELERATE_DISTRIBUTED_TYPE": frozenset({"XLA", "TPU"})}
"""Variables of the environment that do so in what `accelerate launch` starts."""
DEVICE_TYPES = frozenset({"xla", "tpu"})
"""What the type of a device is compared with."""
NOTEBOOK_LAUNCHER = "notebook_launcher"
REPLICAS_OF_A_TPU = 8
"""The number of processes that a notebook starts on a TPU of four chips with two cores each."""
GPU_MARKS = ("cuda", "nccl", "fp16")
"""What code for GPUs holds: eight processes are then eight GPUs."""

VARIABLES = ("PJRT_DEVICE", "XLA_USE_", "XLA_DOWNCAST_", "XRT_TPU_CONFIG", "XRT_DEVICE_MAP", "PT_XLA_", "USE_TORCH_XLA",
             "ACCELERATE_USE_TPU", "NEURON_CC_FLAGS", "NEURON_RT_")  # fmt: skip
"""How the variables of the environment begin that torch_xla and its kin read, and JAX does not."""
OFF = frozenset({"", "0", "false", "no", "off"})

ENTRY_POINTS = frozenset({"entry_point", "entry_script"})
"""The arguments of SageMaker's estimators that name the script of a job."""
SOURCE_FOLDER = "source_dir"
COMPILERS = frozenset({"TrainingCompilerConfig"})
"""What asks the Training Compiler for XLA."""
TRAINIUM = ("ml.trn",)
"""How the types of instances begin that only have NeuronCores."""
XLA_LAUNCHER = "pytorchxla"
"""The key of SageMaker's `distribution` that starts the replicas of torch_xla."""
SPAWNERS = ("xla_spawn.py", "torch_xla.distributed.xla_spawn", "xla_spawn")
"""Scripts that start the script after them in replicas on XLA."""
SPAWN_MARKS = (b"xla_spawn",)
"""What a source holds that names one of them."""
MENTIONS = (b"xla", b"XLA", b"tpu", b"TPU", b"PJRT_DEVICE", b"NEURON_", b"notebook_launcher", b"neuron")
"""A file whose bytes hold none of these asks for nothing."""
