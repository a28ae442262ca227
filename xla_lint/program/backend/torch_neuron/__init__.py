"""TorchNeuron, the native backend of PyTorch for Trainium: torch-neuronx from 2.10 on.

By the AWS Neuron documentation of release 2.33; no program was run on it.
"""

from __future__ import annotations

from xla_lint.program.backend.backend import Backend, Charge, Mode, Property, Release, Role
from xla_lint.program.backend.torch_tpu import BACKEND as TORCH_TPU

ALWAYS: Release = (0, 0)
MODULE = "torch.neuron."

FUNCTIONS = {
    Role.IDLE: (MODULE + "synchronize",),
    Role.PRESENCE: (MODULE + "is_available",),
    Role.START: (MODULE + "current_device", MODULE + "set_device"),
    Role.OTHER: (MODULE,),
}
WRITTEN = {
    Role.COUNT: ((ALWAYS, "dist.get_world_size()"),),
    Role.RANK: ((ALWAYS, "dist.get_rank()"),),
    Role.AUTOCAST: ((ALWAYS, 'torch.autocast("neuron", dtype=torch.bfloat16)'),),
    Role.COMPILE: ((ALWAYS, 'torch.compile(f, backend="neuron")'),),
    Role.WAIT: ((ALWAYS, "torch.neuron.synchronize()"),),
}

BACKEND = Backend(
    name="torch_neuron",
    device_type="neuron",
    project="TorchNeuron",
    called="Neuron",
    charges={Mode.EAGER: Charge.WAITS, Mode.COMPILED: Charge.BREAKS},
    functions=FUNCTIONS,
    written=WRITTEN,
    properties=frozenset({Property.DYNAMIC_RAISES, Property.MODELESS, Property.FILLS_BY_MASK, Property.SUCCEEDS_XLA}),
    packages=frozenset({"torch_neuronx"}),
    since=("torch_neuronx", (2, 10)),
    marks=("torch.neuron", "torch_neuronx"),
    named_by_device=True,
    others=("torch.neuron.trace", "torch.neuron.analyze_model", "torch.neuron.get_supported", "import torch.neuron"),
    reads_variables=("NEURON_RT_",),
    ignores_variables=TORCH_TPU.ignores_variables,
    choices=frozenset({"neuron"}),
    compilers=("neuron",),
    process_group="neuron",
)
