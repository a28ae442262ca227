"""Who reduces gradients besides the training loop itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.library.optimizers import parameters_in

if TYPE_CHECKING:
    from xla_lint.program.interpreter.analysis import Program

PACKAGES = (
    "accelerate.",
    "deepspeed.",
    "fairscale.",
    "horovod.",
    "lightning.",
    "neuronx_distributed.",
    "optimum.",
    "torch.distributed.fsdp.",
)
"""Packages that reduce gradients themselves."""
NAMES = frozenset(
    """
    DistributedDataParallel FullyShardedDataParallel XlaFullyShardedDataParallel SpmdFullyShardedDataParallel
    ZeroRedundancyOptimizer fully_shard mark_sharding use_spmd
    """.split()
)
"""Wrappers and modes of torch and torch_xla that do."""
REDUCTIONS = ("torch_xla.core.xla_model.all_reduce", "torch.distributed.all_reduce")


def reduces_elsewhere(program: Program) -> bool:
    """Whether something else in the program reduces gradients, or averages the parameters instead.

    A collective in a hook counts: autograd calls it during the backward pass.
    """
    return any(isinstance(event, LibraryCall) and _reduces(event) for event in program.events)


def _reduces(call: LibraryCall) -> bool:
    if call.name.startswith(PACKAGES) or call.name.rpartition(".")[2] in NAMES:
        return True
    if call.name not in REDUCTIONS:
        return False
    given = (*call.args, *call.kwargs.values())
    origins = [origin for value in given for tensor in parameters_in(value) for origin in tensor.origins]
    return call.context.callback or any(not origin.gradient for origin in origins)
