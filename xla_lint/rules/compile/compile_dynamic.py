"""`xla-compile-dynamic`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import Compiled
from xla_lint.program.domain.values import NONE, Instance, Mapping
from xla_lint.program.queries import sets_attribute, setting
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity
from xla_lint.rules.compile.varying import Varying

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.compilations import Compilation
    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

BOUNDED = "bounded_dynamism"
OF_COMPILER = "dynamism"
SWITCH = "automatic_dynamic_shapes"
ALWAYS = "dynamic=True asks for a graph with symbolic sizes, which the compiler of %s rejects at the first call"


class CompileDynamic(Rule):
    """`torch.compile` asks for sizes that the compiler of the device cannot have.

    ## What it does
    Finds, for the devices of TorchTPU and TorchNeuron, `torch.compile(dynamic=True)`; and for TorchTPU also a `dynamic`
    that is left out where the compiled code surely gets a second size: from a loader whose last batch may be smaller,
    from rows that are padded to the longest, from a tensor that grows or is cut to another length, or as an integer
    argument that changes from call to call and enters the computation. The finding stands at the call or the decorator.

    ## Why it matters
    A graph with symbolic sizes raises `NotImplementedError` on TorchTPU (read in the source, and tested by its
    authors); TorchNeuron rejects it while compiling (documented). Without `dynamic`, PyTorch compiles for the first
    size, and at the second one makes the size symbolic: the first step works, and a later one raises. A float that
    changes does not, and neither does an integer that is an attribute.

    ## What to write instead
    ```python
    compiled = torch.compile(model, backend="tpu", dynamic=False)
    ```

    Each size is then compiled, up to eight of one function; after that the function runs eagerly without a message
    (`torch._dynamo.config.recompile_limit`). So give all batches one size, or a few, and pass numbers that change as
    tensors.

    ## When it is fine
    Left out where all sizes are the same; beside `torch._dynamo.config.automatic_dynamic_shapes = False`,
    `options={"bounded_dynamism": True}` or `backend=TpuBackend(dynamism=True)`; for another compiler (`"inductor"`,
    `"eager"`). TorchNeuron compiles anew for each size where `dynamic` is left out.
    """

    symbol = "xla-compile-dynamic"
    number = "9773"
    severity = Severity.ERROR
    message = "%(problem)s; pass dynamic=False%(besides)s"
    subscribes = (Compiled,)
    needs = (Property.DYNAMIC_RAISES,)
    modes = EVERYWHERE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report compilations that end in symbolic sizes."""
        if not isinstance(event, Compiled):
            return
        dynamic = event.compilation.keywords.get("dynamic")
        if constant(dynamic) is True:
            problem = ALWAYS % self.program.backend.title
            yield self.finding(event.node, problem=problem, besides="")
        elif (dynamic is None or dynamic is NONE) and not event.compilation.unpacked:
            reason = self._reason(event.compilation)
            if reason is not None:
                problem = f"{reason}: without dynamic=False the second size becomes a symbol, and the call raises"
                besides = ", and give what is compiled one size, or a few"
                yield self.finding(event.node, Confidence.CONTROL_FLOW, problem=problem, besides=besides)

    def _reason(self, compilation: Compilation) -> str | None:
        if not self.program.backend.has(Property.REJECTS_SYMBOLS) or self._is_switched_off:
            return None
        return None if is_bounded(compilation) else self._varying.reason(compilation)

    @cached_property
    def _varying(self) -> Varying:
        return Varying(self.program)

    @cached_property
    def _is_switched_off(self) -> bool:
        """Whether the program tells PyTorch to make no size a symbol by itself."""
        return sets_attribute(self.program.module, SWITCH, False)


def is_bounded(compilation: Compilation) -> bool:
    """Whether the compiler is asked to take sizes that it knows bounds of, by an option or by a setting of its own."""
    asked, compiler = compilation.keywords.get("options"), compilation.keywords.get("backend")
    if isinstance(asked, Mapping) and constant(asked.entries.get(BOUNDED)) is True:
        return True
    return isinstance(compiler, Instance) and constant(setting(compiler, OF_COMPILER)) is True
