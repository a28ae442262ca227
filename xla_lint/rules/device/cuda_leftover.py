"""`xla-cuda-leftover`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import Instance, Location, Tensor, Text, options
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding

CUDA = "torch.cuda."
HARMLESS = frozenset(
    "manual_seed manual_seed_all seed seed_all is_available is_initialized is_bf16_supported device_count "
    "get_rng_state_all set_rng_state_all".split()
)
"""Functions of `torch.cuda` that are there for every machine, and do nothing or tell the truth without CUDA."""
OTHERS = (f"{CUDA}amp.", "torch.amp.", "torch.autocast")
"""Mixed precision has rules of its own."""
MOVES = frozenset({"to", "cuda"})
PLACES = frozenset({"device", "map_location"})
TAKE_PLACES = ("torch.", "transformers.")
"""Packages whose functions place things by these arguments."""
POSITIONAL = frozenset({"torch.device", "torch.set_default_device", "torch.set_default_tensor_type"})
"""Functions whose first argument names a device."""


class CudaLeftover(Rule):
    """A call for CUDA is left on a path that runs on XLA.

    ## What it does
    Finds `torch.device("cuda")`, `device="cuda"`, `.to("cuda")`, `.cuda()` and functions of `torch.cuda` where the code
    runs on XLA: in a module that imports torch_xla unconditionally, or on a tensor or model that lives on the XLA
    device; and not under a test whose answer is unknown, such as an option of the command line. Tests that are
    false on XLA are known: `torch.cuda.is_available()`, `device.type == "cuda"`, `tensor.is_cuda`.

    ## Why it matters
    On a machine without CUDA most of these raise "Found no NVIDIA driver". Others say nothing about the device in use:
    `torch.cuda.memory_allocated()` is 0, and `torch.cuda.empty_cache()` empties nothing.

    ## What to write instead
    - `torch_xla.device()` for `torch.device("cuda")`, and `x.to(device)` for `x.cuda()`;
    - `torch_xla.sync(wait=True)`, or a barrier and `xm.wait_device_ops()`, for `torch.cuda.synchronize()`;
    - `xm.get_memory_info(device)` for `torch.cuda.memory_allocated()`;
    - `xr.world_size()` for `torch.cuda.device_count()`.

    ## When it is fine
    Under a test that is false on XLA, and in the methods of objects that are built only under a test of which the
    answer is unknown, defaults of their parameters included. `torch.cuda.manual_seed_all` and the flags of cuDNN have
    no effect without CUDA and are not reported. `torch.cuda.amp` is `xla-foreign-autocast` and
    `xla-foreign-grad-scaler`.

    ## On TorchTPU and TorchNeuron
    The module counts that names the device under no test. `torch.tpu.synchronize()` and `torch.neuron.synchronize()`
    wait for it.
    """

    symbol = "xla-cuda-leftover"
    number = "9761"
    severity = Severity.ERROR
    message = (
        "'%(call)s' is for CUDA, and this code runs on %(title)s; %(instead)s, or put it under a test of the device's"
        " type"
    )
    subscribes = (LibraryCall,)
    modes = EVERYWHERE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Calls that may name CUDA."""
        name = call.rpartition(".")[2]
        if call.startswith(CUDA):
            return name not in HARMLESS and not call.startswith(OTHERS)
        return name in MOVES or (call.startswith(TAKE_PLACES) and not call.startswith(OTHERS))

    def check(self, event: Event) -> Iterator[Finding]:
        """Report calls for CUDA on an XLA path."""
        if not isinstance(event, LibraryCall):
            return
        call = cuda_call(event)
        if call is None or is_optional(event) or self._is_optional_default(event):
            return
        if self.program.needs_backend(event.node) or on_xla(event.receiver):
            certain = event.receiver is None or isinstance(event.receiver, (Tensor, Instance))
            yield self.finding(
                event.node,
                Confidence.of(certain),
                call=call,
                title=self.program.backend.title,
                instead=self._instead(event),
            )

    def _is_optional_default(self, call: LibraryCall) -> bool:
        """Whether a device is only named, as the default in a class or function that runs under unknown tests only."""
        parameters = parameters_around(call.node) if call.name == "torch.device" else None
        if parameters is None or parameters.parent is None:
            return False
        function = parameters.parent
        owner = function.parent if isinstance(function.parent, nodes.ClassDef) else function
        calls = [event for event in self.program.written_in(owner) if isinstance(event, LibraryCall)]
        inside = [event for event in calls if parameters_around(event.node) is None]
        return bool(inside) and all(is_optional(event) for event in inside)

    def _instead(self, call: LibraryCall) -> str:
        name = call.name.rpartition(".")[2]
        if not call.name.startswith(CUDA):
            return f"move to the {self.program.backend.title} device"
        backend, spell = self.program.backend, self.program.spell
        if name == "synchronize" and backend.has(Role.BARRIER, Role.WAIT):
            return f"use {spell(Role.BARRIER)} and {spell(Role.WAIT)}"
        if name == "synchronize" and backend.has(Role.WAIT):
            return f"use {spell(Role.WAIT)}"
        return f"use {spell(Role.MEMORY)}" if "memory" in name and backend.has(Role.MEMORY) else "remove it"


def cuda_call(call: LibraryCall) -> str | None:
    """How a call for CUDA is spelled, None for any other call."""
    owner, _, name = call.name.rpartition(".")
    if call.name.startswith(CUDA):
        return call.name
    if name in MOVES and (owner in ("?", "torch.Tensor") or isinstance(call.receiver, Instance)):
        if name == "cuda":
            return ".cuda()" if not is_other_object(call.receiver) else None
        target = call.argument(0, "device")
        return f'.to("{target.const}")' if isinstance(target, Text) and names_cuda(target) else None
    if call.name in POSITIONAL and call.args and names_cuda(call.args[0]):
        return call.name
    if not call.name.startswith(TAKE_PLACES):
        return None
    named = (name for name, value in call.kwargs.items() if name in PLACES and names_cuda(value))
    return next((f"{call.name}({name}=)" for name in named), None)


def is_optional(event: Event) -> bool:
    """True for what happens under a test whose answer is unknown."""
    return any(constraint.condition is Condition.SETTING for constraint in event.context.path_condition)


def parameters_around(node: nodes.NodeNG) -> nodes.Arguments | None:
    """The parameters among whose defaults a node stands, None for one that stands elsewhere."""
    around = node.parent
    while around is not None and not isinstance(around, (nodes.Arguments, nodes.FunctionDef, nodes.ClassDef)):
        around = around.parent
    return around if isinstance(around, nodes.Arguments) else None


def is_other_object(receiver: Value | None) -> bool:
    """True for a library object that is not a model."""
    return isinstance(receiver, Instance) and not receiver.model


def names_cuda(value: Value) -> bool:
    """Whether a value is the name of a CUDA device, or of a tensor type of CUDA."""
    return all(
        isinstance(option, Text) and (option.const or "").startswith(("cuda", "torch.cuda."))
        for option in options(value)
    )


def on_xla(receiver: Value | None) -> bool:
    """Whether a receiver is known to live on the XLA device."""
    return isinstance(receiver, (Tensor, Instance)) and receiver.place is Location.DEVICE and receiver.certain
