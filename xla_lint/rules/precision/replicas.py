"""Who reduces gradients besides the training loop itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.torch_xla.names import ALL_REDUCE, SHARDING, SHARDING_PACKAGES
from xla_lint.program.domain.loops import Kind
from xla_lint.program.queries import origins_of

if TYPE_CHECKING:
    from xla_lint.program.domain.events import LibraryCall
    from xla_lint.program.queries import Program

PACKAGES = (
    "accelerate.",
    "deepspeed.",
    "fairscale.",
    "horovod.",
    "lightning.",
    *SHARDING_PACKAGES,
    "optimum.",
    "torch.distributed.fsdp.",
)
"""Packages that reduce gradients themselves."""
NAMES = SHARDING | {"DistributedDataParallel", "FullyShardedDataParallel", "ZeroRedundancyOptimizer", "fully_shard"}
"""Wrappers and modes of torch and of backends that do."""
SHARDED_STATE = "torch.distributed.optim.ZeroRedundancyOptimizer"
REDUCTIONS = (ALL_REDUCE, "torch.distributed.all_reduce")


def reduces_elsewhere(program: Program) -> bool:
    """Whether something else in the program reduces gradients, or averages the parameters instead.

    A collective in a hook counts: autograd calls it during the backward pass.
    """
    return bool(program.calls_where(_reduces)) or any(map(_averages, program.calls(*REDUCTIONS)))


def reduces_beside(program: Program) -> bool:
    """Whether something reduces gradients where the program reduces them itself as well.

    A wrapper that is told a GPU (`device_ids=[rank]`) is for the branch that runs there, and torch's own sharding of an
    optimizer leaves the reduction to others.
    """
    wrappers = (call for call in program.calls_where(_reduces) if call.name != SHARDED_STATE)
    return any(not call.kwargs.get("device_ids") for call in wrappers) or any(
        map(_averages, program.calls(*REDUCTIONS))
    )


def _reduces(name: str) -> bool:
    return name.startswith(PACKAGES) or name.rpartition(".")[2] in NAMES


def _averages(call: LibraryCall) -> bool:
    """Whether a collective runs with the backward pass, or works on parameters again and again.

    Once, before the training, it only makes all replicas begin alike.
    """
    if call.context.callback:
        return True
    if not any(loop.kind in (Kind.STEP, Kind.EPOCH) for loop in call.context.loops):
        return False
    given = (*call.args, *call.kwargs.values())
    return any(not origin.gradient for value in given for origin in origins_of(value))
