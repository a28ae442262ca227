"""`xla-foreign-autocast`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Call, ChangeCall, Fix, Give, Name, Span
from xla_lint.program.backend.backend import Role
from xla_lint.program.backend.torch_xla.names import FIRST_AUTOCAST
from xla_lint.program.domain.events import Autocast
from xla_lint.program.queries import dotted_name
from xla_lint.rules.arguments import is_spelled_out
from xla_lint.rules.base import EVERYWHERE, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


OWN_AUTOCAST = Fix(
    "ask for the device's own autocast, in bfloat16: the model is computed in lower precision", safe=False
)
AUTOCAST, LOW, HALF = Name("torch", "autocast"), Name("torch", "bfloat16"), "torch.float16"
SIGNATURES = frozenset({"torch.autocast", "torch.amp.autocast"})
"""The ways to ask for autocast that take the kind of device."""
CUDA_POSITIONAL = ("enabled", "dtype", "cache_enabled")


class ForeignAutocast(Rule):
    """Autocast is asked for another kind of device, while the work is done on XLA: nothing is cast.

    ## What it does
    Finds `torch.autocast("cuda")`, `torch.cuda.amp.autocast()` and autocast for the CPU, as context managers around
    operations on the device or as decorators. The finding stands at the call.

    ## Why it matters
    Each kind of device has its own autocast mode. Another one's mode leaves XLA tensors alone: the model runs in
    float32, at the cost in time and memory that mixed precision was meant to save. There is no warning.

    ## What to write instead
    ```python
    with torch.autocast("xla", dtype=torch.bfloat16):
        loss = loss_fn(model(x), y)
    ```

    `torch_xla.amp.autocast(device)` does the same on TPU and Trainium.

    ## When it is fine
    `enabled=False`, and regions that hold host work only. In a program that also runs on other devices, a region that
    an option enables is taken for theirs. Up to torch_xla 2.0, XLA tensors took part in CUDA's
    autocast, and nothing is reported for such a target.

    ## On TorchTPU and TorchNeuron
    Write `torch.autocast("tpu")` or `torch.autocast("neuron")`, with `dtype=torch.bfloat16` (documented).
    """

    symbol = "xla-foreign-autocast"
    number = "9733"
    severity = Severity.ERROR
    message = (
        "autocast for '%(device)s' does nothing for %(title)s tensors%(where)s: they stay float32; use %(instead)s"
    )
    subscribes = (Autocast,)
    modes = EVERYWHERE
    needs = (Role.AUTOCAST,)
    fixes = (OWN_AUTOCAST,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report autocast regions that cast nothing."""
        if not isinstance(event, Autocast) or (self.program.aim.is_lazy and self.program.target < FIRST_AUTOCAST):
            return
        if event.optional and self.program.chooses_backend(event.node):
            return
        sureness = confidence(event.context, on_every_path=not event.optional)
        facts = {
            "device": event.device,
            "title": self.program.backend.title,
            "instead": self.program.spell(Role.AUTOCAST),
        }
        finding = self.finding(event.node, sureness, where=where(event.context), **facts)
        yield finding.repaired_by(OWN_AUTOCAST, _own_autocast(event.node, self.program.backend.device_type))


def _own_autocast(node: nodes.NodeNG, device: str) -> ChangeCall | None:
    """The same call for the lazy device, in the precision that it has; None where other values are computed."""
    if not is_spelled_out(node):
        return None
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    own_signature = dotted_name(node.func) in SIGNATURES
    positional = ("device_type", "dtype", "enabled", "cache_enabled") if own_signature else CUDA_POSITIONAL
    given.update(zip(positional, node.args, strict=False))
    kind, dtype = given.get("device_type"), dotted_name(given["dtype"]) if "dtype" in given else HALF
    if (own_signature and not isinstance(kind, nodes.Const)) or dtype not in (HALF, LOW.dotted):
        return None
    device_type, low = f'"{device}"', Give("dtype", LOW, positional.index("dtype"))
    if own_signature:
        return ChangeCall(Span.of(node), (Give("device_type", device_type, 0), low))
    named = tuple(Call(name, name, position) for position, name in enumerate(positional))
    return ChangeCall(Span.of(node), (*named, Give("device_type", device_type), low), AUTOCAST)
