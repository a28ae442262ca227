"""`xla-ineffective-env`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Fix, Remove, Span
from xla_lint.knowledge.environment import variable
from xla_lint.program.backend import ASSUMED
from xla_lint.program.domain.events import EnvironmentSet
from xla_lint.rules.arguments import is_spelled_out
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity
from xla_lint.rules.device.spelling import dotted_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

LEAVE_OUT = Fix("leave it out: the backend does not read it, as long as the program itself does not", safe=False)


class IneffectiveEnv(Rule):
    """An environment variable is set that torch_xla ignores, deprecates, or has read already.

    ## What it does
    Finds assignments to `os.environ`, `os.environ.setdefault`, `os.environ.update` and `os.putenv` of

    - variables that the target release does not read: `XRT_*` from 2.1, `XLA_USE_FP16` and `XLA_DOWNCAST_FP16` from
      2.5, and `XLA_USE_F16`, which no release ever read;
    - variables that it reads with a warning: `XLA_USE_BF16`, `XLA_DOWNCAST_BF16` and `XLA_USE_32BIT_LONG` from 2.4,
      `XLA_USE_SPMD` from 2.1;
    - variables that are read once and early, set after `import torch_xla`: the ones for dtypes above, `XRT_*`, and
      `XLA_USE_EAGER_DEBUG_MODE`.

    The target is `--xla-target-version`, else what the project's own requirements pin, else the newest release that
    xla-lint knows.

    ## Why it matters
    Nothing fails: the program runs in another precision or on another device than its author believes. `XLA_USE_BF16`
    still turns float32 into bfloat16 behind the program's back in 2.9, so that `tensor.dtype` and the device disagree.

    ## What to write instead
    Say it in the program: `model.to(torch.bfloat16)`, `torch.autocast("xla", dtype=torch.bfloat16)`,
    `torch_xla.runtime.use_spmd()`. Choose the device by `PJRT_DEVICE`. Set variables before the first import of
    torch_xla, or in the shell.

    ## When it is fine
    Where the target release reads the variable without a warning and it is set before the import. Reading a variable
    is always fine, and so is setting one behind a test on the release. A switch that is turned off (`XLA_USE_BF16=0`)
    asks for what happens anyway, and is not reported.

    ## On TorchTPU and TorchNeuron
    TorchTPU reads its variables once, each at its first use (read in the source, documented): `TORCH_TPU_*`, `TPU_*`,
    `LIBTPU_INIT_ARGS` and `XLA_FLAGS` set after the first use of the device do nothing, and neither do `NEURON_RT_*` on
    TorchNeuron (documented). The variables of torch_xla, such as `PJRT_DEVICE` and `XLA_USE_BF16`, are not among those
    that TorchTPU reads (read in the source); of TorchNeuron it is inferred, as no torch_xla is loaded.
    """

    symbol = "xla-ineffective-env"
    number = "9768"
    severity = Severity.WARNING
    message = "setting %(name)s %(problem)s%(instead)s"
    subscribes = (EnvironmentSet,)
    modes = EVERYWHERE
    fixes = (LEAVE_OUT,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report variables that do not do what they are set for."""
        if isinstance(event, EnvironmentSet) and self.program.aim.is_native:
            yield from self._check_native(event)
            return
        known = variable(event.name, event.value) if isinstance(event, EnvironmentSet) else None
        if not isinstance(event, EnvironmentSet) or known is None:
            return
        target = self.program.target
        instead, sureness = f": use {known.instead}" if known.instead else "", Confidence.HIGH
        value = f"={event.value}" if known.values else ""
        if known.ignored is not None and target >= known.ignored:
            if known.ignored < (2, 0):
                problem = f"has no effect, no release of {self.program.backend.name} reads it"
            else:
                problem = f"has no effect since {self.program.backend.name} {dotted_release(known.ignored)}"
        elif known.deprecated is not None and target >= known.deprecated:
            problem = f"is deprecated since {self.program.backend.name} {dotted_release(known.deprecated)}"
        elif known.early and event.late:
            problem = f"after {self.program.backend.name} was imported may come too late, it is read once"
            instead, sureness = "; set it before the import", Confidence.CONTROL_FLOW
        else:
            return
        yield self.finding(event.node, sureness, name=event.name + value, problem=problem, instead=instead)

    def _check_native(self, event: EnvironmentSet) -> Iterator[Finding]:
        """Variables of another backend, and those that were read before they are set."""
        backend = self.program.backend
        if event.name.startswith(backend.ignores_variables):
            problem = f"has no effect, {backend.name} does not read it: it is for {ASSUMED.name}"
            found = self.finding(event.node, name=event.name, problem=problem, instead="; leave it out")
            yield found.repaired_by(LEAVE_OUT, leaving_out(event.node))
        elif event.late and event.name.startswith(backend.reads_variables):
            problem = f"has no effect here, {backend.name} has read it at the first use of the device"
            yield self.finding(event.node, name=event.name, problem=problem, instead="; set it before")


def leaving_out(node: nodes.NodeNG) -> Remove | None:
    """The statement that sets a variable goes, where it does nothing else."""
    if isinstance(node, nodes.Assign) and len(node.targets) == 1:
        values = [node.value]
    elif is_spelled_out(node) and isinstance(node.parent, nodes.Expr) and not node.keywords:
        values = node.args
    else:
        return None
    return Remove(Span.of(node)) if all(isinstance(value, nodes.Const) for value in values) else None
