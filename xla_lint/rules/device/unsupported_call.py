"""`xla-unsupported-call`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import Choice, Instance, Location, Sequence, Tensor, options
from xla_lint.program.queries import parameters_place
from xla_lint.rules.arguments import constant, device_tensor
from xla_lint.rules.base import EVERYWHERE, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.program.queries import Program
    from xla_lint.rules.base import Finding

Problem = tuple[Tensor | None, str, str]
"""The device tensor that is the reason, where there is one; what is wrong; what to write instead."""
METHODS = {
    "numpy": ("numpy has no tensors of the device", "call .cpu() first"),
    "__array__": ("numpy has no tensors of the device", "call .cpu() first"),
    "to_sparse": ("XLA has no sparse tensors", "keep it dense"),
    "to_sparse_csr": ("XLA has no sparse tensors", "keep it dense"),
    "share_memory_": ("only memory of the host can be shared", "call .cpu() first"),
    "pin_memory": ("only memory of the host can be pinned", "pin it before it moves to the device"),
    "map_": ("it works on the host only", "use operations on tensors"),
    "apply_": ("it works on the host only", "use operations on tensors"),
    "to_mkldnn": ("it works on the host only", "drop it"),
}
"""Methods that raise on an XLA tensor (torch 2.9.1, torch_xla 2.9.0)."""
ON_HOST_ALONE = frozenset({"numpy", "__array__", "share_memory_", "pin_memory", "map_", "apply_"})
"""Those that raise for a tensor of any device but the host, by PyTorch's own source (torch 2.9.1)."""
NUMPY_PASSES = frozenset({"shape", "ndim", "size", "squeeze", "float64", "result_type", "can_cast", "iterable"})
"""Functions of numpy that ask a tensor's own attributes, and do not convert it (numpy 2)."""
FOREACH = frozenset(
    f"torch.nn.utils.{name}"
    for name in ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm")
)
CHECKPOINTS = frozenset({"torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"})
CHECKPOINT_ASKS_DEVICE = (2, 1)
"""The first torch release whose checkpointing looks up a module for the device's type, and finds no `torch.xla`."""


class UnsupportedCall(Rule):
    """A call raises on XLA tensors, although it works on others.

    ## What it does
    Finds

    - `.numpy()` of a device tensor, and functions of numpy that are given one (`np.array(t)`, `np.mean(t)`);
    - optimizers built with `fused=True` over parameters on the device;
    - `clip_grad_norm_` and its kin with `foreach=True`;
    - `torch.utils.checkpoint` around code on the device;
    - methods that only host tensors have: `.to_sparse()`, `.share_memory_()`, `.pin_memory()` and others.

    The finding stands at the call; a fused optimizer raises later, in `step()`.

    ## Why it matters
    numpy's conversion is a `TypeError`, not a silent transfer. Fused and foreach kernels exist for other devices only
    and raise a `RuntimeError`. torch's checkpointing asks for a module `torch.xla`, which does not exist: an
    `AttributeError`, with and without `use_reentrant`.

    ## What to write instead
    `t.cpu().numpy()`, outside step code; `torch.optim.AdamW(params, lr=...)` without `fused`; `clip_grad_norm_` without
    `foreach`; `torch_xla.utils.checkpoint.checkpoint`, which takes the same arguments (reentrant only).

    ## When it is fine
    Host tensors, `.numpy(force=True)`, and `foreach=True` of an optimizer. `np.shape(t)` and its like convert nothing.

    ## On TorchTPU and TorchNeuron
    Only what PyTorch itself refuses for all devices but the host is reported: `.numpy()`, functions of numpy,
    `share_memory_`, `pin_memory`, `map_`, `apply_`. TorchTPU has fused optimizers (read in the source).
    """

    symbol = "xla-unsupported-call"
    number = "9769"
    severity = Severity.ERROR
    message = "'%(call)s' raises on %(title)s tensors%(where)s: %(why)s; %(instead)s"
    subscribes = (LibraryCall,)
    modes = EVERYWHERE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Calls that may raise."""
        package, _, name = call.rpartition(".")
        if package == "torch.Tensor":
            return name in METHODS
        if call.startswith("numpy."):
            return name not in NUMPY_PASSES
        return package == "torch.optim" or call in FOREACH or call in CHECKPOINTS

    def check(self, event: Event) -> Iterator[Finding]:
        """Report calls that raise."""
        if not isinstance(event, LibraryCall):
            return
        problem = self._problem(event)
        if problem is not None:
            tensor, why, instead = problem
            call = event.name.removeprefix("torch.Tensor").removeprefix("torch.")
            tensors = [tensor] if tensor is not None else []
            yield self.finding(
                event.node,
                confidence(event.context, *tensors),
                call=call,
                title=self.program.backend.title,
                where=where(event.context),
                why=why,
                instead=instead,
            )

    def _problem(self, call: LibraryCall) -> Problem | None:
        package, _, name = call.name.rpartition(".")
        if package == "torch.Tensor":
            known = self.program.aim.is_lazy or name in ON_HOST_ALONE
            return method_problem(call, name) if known else None
        if call.name.startswith("numpy."):
            tensor = next(converted(call), None)
            return (tensor, "numpy has no tensors of the device", "call .cpu() first") if tensor is not None else None
        if not self.program.aim.is_lazy:
            return None
        if package == "torch.optim" and constant(call.kwargs.get("fused")) is True:
            if parameters_place(call.argument(0, "params")) is Location.DEVICE:
                return None, "fused=True needs kernels that XLA lacks", "leave fused out"
        elif call.name in FOREACH and constant(call.kwargs.get("foreach")) is True:
            if parameters_place(call.argument(0, "parameters")) is Location.DEVICE:
                return None, "foreach=True needs kernels that XLA lacks", "leave foreach out"
        elif call.name in CHECKPOINTS and self.program.target >= CHECKPOINT_ASKS_DEVICE:
            problem = checkpoint_problem(call, self.program)
            return problem if problem is not None and self._on_xla(call, problem[0]) else None
        return None

    def _on_xla(self, call: LibraryCall, tensor: Tensor | None) -> bool:
        """Whether the code surely runs on XLA: models that run anywhere are often written with checkpointing."""
        return self.program.needs_xla(call.node) or (tensor is not None and tensor.certain)


def method_problem(call: LibraryCall, name: str) -> Problem | None:
    """What is wrong with a method of a device tensor."""
    tensor = device_tensor(call.receiver)
    if tensor is None:
        return None
    if name == "numpy" and (call.unpacked or constant(call.argument(0, "force")) not in (None, False)):
        return None
    why, instead = METHODS[name]
    return tensor, why, instead


def converted(call: LibraryCall) -> Iterator[Tensor]:
    """The device tensors that a function of numpy is given, directly or in a list."""
    for value in (*call.args, *call.kwargs.values()):
        for option in options(value):
            items = (option.items or [option.element]) if isinstance(option, Sequence) else [option]
            for item in items:
                tensor = device_tensor(item)
                if tensor is not None:
                    yield tensor


def checkpoint_problem(call: LibraryCall, program: Program) -> Problem | None:
    """torch's checkpointing of code on the device."""
    function, instead = call.argument(0, "function"), f"use {program.spell(Role.CHECKPOINT)}"
    why = f"it asks for a module 'torch.{program.backend.device_type}', which does not exist"
    tensor = next((found for value in call.args[1:] if (found := device_tensor(value)) is not None), None)
    if tensor is not None:
        return tensor, why, instead
    return (None, why, instead) if function is not None and on_device(function) else None


def on_device(value: Value) -> bool:
    """Whether a value is a model whose parameters live on the device."""
    if isinstance(value, Choice):
        return any(on_device(option) for option in value.options)
    return isinstance(value, Instance) and value.model and value.place is Location.DEVICE
