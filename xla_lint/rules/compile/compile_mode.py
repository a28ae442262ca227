"""`xla-compile-mode`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import Compiled
from xla_lint.program.domain.values import Text, options
from xla_lint.rules.base import EVERYWHERE, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class CompileMode(Rule):
    """`torch.compile` is given a mode, which the compilers of TorchTPU and TorchNeuron do not have.

    ## What it does
    Finds `torch.compile(mode=...)` with another mode than `"default"` for the device of TorchTPU or TorchNeuron. The
    finding stands at the call or the decorator.

    ## Why it matters
    The modes are those of inductor. TorchTPU raises on current releases ("Unexpected keyword arguments", read in the
    source, and reported by those who ported benchmarks); older ones ignored the argument. TorchNeuron warns, and
    ignores it (documented). What the mode was meant to bring does not happen.

    ## What to write instead
    ```python
    compiled = torch.compile(model, backend="tpu", dynamic=False)
    ```

    ## When it is fine
    `mode=None`, `mode="default"`, and a mode that is chosen only where another device is used.
    """

    symbol = "xla-compile-mode"
    number = "9774"
    severity = Severity.WARNING
    message = "mode=%(mode)s is not for the compiler of %(title)s: it %(effect)s; leave it out"
    subscribes = (Compiled,)
    needs = (Property.MODELESS,)
    modes = EVERYWHERE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report modes that the compiler does not know."""
        mode = event.compilation.keywords.get("mode") if isinstance(event, Compiled) else None
        given = [option.const if isinstance(option, Text) else None for option in options(mode)] if mode else []
        if given and all(text not in (None, "default") for text in given):
            raises = self.program.backend.has(Property.MODE_RAISES)
            yield self.finding(
                event.node,
                mode=" or ".join(f'"{text}"' for text in given),
                title=self.program.backend.title,
                effect="raises on current releases" if raises else "is ignored, with a warning",
            )
