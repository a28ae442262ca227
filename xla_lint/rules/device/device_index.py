"""`xla-device-index`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import NONE, Number, Text, Trait, options
from xla_lint.rules.base import EVERYWHERE, Rule, Severity
from xla_lint.rules.wording import confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding

WRAPPER = "torch.nn.parallel.DistributedDataParallel"
WRAPPED = ("device_ids", "output_device")
CHOOSERS = frozenset({"torch.accelerator.set_device_index", "torch.accelerator.set_device_idx"})
MAKERS = frozenset({"torch.device", "torch.set_default_device"})


class DeviceIndex(Rule):
    """A device is chosen by the rank, where each process sees one device alone.

    ## What it does
    Finds, in programs for TorchTPU, `DistributedDataParallel(device_ids=..., output_device=...)`,
    `torch.tpu.set_device` and `torch.accelerator.set_device_index` with a rank or another index than 0,
    `torch.tpu.set_device("tpu:0")`, and devices such as `torch.device("tpu", rank)` or `f"tpu:{rank}"`. The finding
    stands at the call.

    ## Why it matters
    There is one process for each core, and each sees its own as `tpu:0` (documented). Another index is "out of bounds
    of the number of addressable devices", or a ValueError in `set_device`, which also takes no text but `"tpu"` (read
    in the source). So the code works on the first rank, and raises on all others.

    ## What to write instead
    ```python
    device = torch.device("tpu")
    model = DistributedDataParallel(Net().to(device))
    ```

    ## When it is fine
    `"tpu:0"`, `set_device(0)`, `device_ids=None`, and the branch for another device. A process of TorchNeuron may own
    several cores: there an index is right, and nothing is reported.
    """

    symbol = "xla-device-index"
    number = "9771"
    severity = Severity.ERROR
    message = (
        "%(what)s chooses a device by its index, and each process sees its own as '%(device)s:0' alone: it works on the"
        " first rank and raises on the others; %(instead)s"
    )
    subscribes = (LibraryCall,)
    needs = (Property.OWN_DEVICE_ONLY,)
    modes = EVERYWHERE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Calls that may be told a device."""
        return call == WRAPPER or call.startswith("torch.") or call == "?.to"

    def check(self, event: Event) -> Iterator[Finding]:
        """Report devices that are chosen by another index than 0."""
        if not isinstance(event, LibraryCall):
            return
        found = self._chosen(event)
        if found is not None:
            what, instead = found
            device = self.program.backend.device_type
            yield self.finding(event.node, confidence(event.context), what=what, device=device, instead=instead)

    def _chosen(self, call: LibraryCall) -> tuple[str, str] | None:
        device = self.program.backend.device_type
        module = self.program.backend.device_module
        name = call.name.rpartition(".")[2]
        if call.name == WRAPPER:
            told = [slot for slot in WRAPPED if slot in call.kwargs and call.kwargs[slot] is not NONE]
            return (f"{name}({told[0]}=)", f"leave {' and '.join(told)} out") if told else None
        remedy = f'use torch.device("{device}")'
        if call.name == f"{module}.set_device":
            value = call.argument(0, "device")
            indexed = isinstance(value, Text) and ":" in (value.const or value.opening)
            return (call.name, "leave it out") if indexed or differs(value) else None
        if call.name in CHOOSERS:
            return (call.name, "leave it out") if differs(call.argument(0, "device")) else None
        if call.name in MAKERS:
            first = call.argument(0, "type")
            of_type = isinstance(first, Text) and first.const == device
            if of_type and differs(call.argument(1, "index")):
                return call.name, remedy
            return (call.name, remedy) if self._names_other(first) else None
        told_to = call.argument(0, "device") if name == "to" else call.kwargs.get("device")
        return (f"{name}()", remedy) if self._names_other(told_to) else None

    def _names_other(self, value: Value | None) -> bool:
        """Whether a text names a device of the backend by another index than 0."""
        start = f"{self.program.backend.device_type}:"
        for option in options(value) if value is not None else ():
            if isinstance(option, Text) and (option.const or option.opening).startswith(start):
                index = (option.const or "").removeprefix(start)
                if option.ranked or (index.isdigit() and int(index) > 0):
                    return True
        return False


def differs(value: Value | None) -> bool:
    """Whether a number is a rank, or a constant other than 0."""
    if not isinstance(value, Number):
        return False
    return Trait.RANK in value.traits or bool(value.const)
