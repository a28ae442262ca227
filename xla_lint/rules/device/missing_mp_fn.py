"""`xla-missing-mp-fn`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend.backend import Role
from xla_lint.program.backend.torch_xla.names import ENTRY, LAUNCH, LAUNCHER, SPAWN, TORCHRUN_PACKAGES
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.queries import needs_xla
from xla_lint.rules.accelerate.evidence import ACCELERATOR
from xla_lint.rules.base import Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

STARTERS = frozenset(
    {
        LAUNCH,
        SPAWN,
        "torch.multiprocessing.spawn",
        "torch.distributed.init_process_group",
        "accelerate.notebook_launcher",
        ACCELERATOR,
    }
)
"""Calls that show that the replicas are started in another way."""


class MissingMpFn(Rule):
    """A training script for a launcher lacks the function that the launcher calls.

    ## What it does
    Finds scripts that import torch_xla, train with the transformers `Trainer`, call a function of their own, usually
    `main()`, under `if __name__ == "__main__"`, and define no `_mp_fn(index)`. The finding stands at that function.

    ## Why it matters
    The launchers for PyTorch/XLA scripts (transformers' `xla_spawn.py`, SageMaker's `pytorchxla` distribution) import
    the script as a module and call `_mp_fn(index)` in each replica. `if __name__ == "__main__"` does not hold there, so
    `main()` is not called either. Without `_mp_fn` the launch ends in an `AttributeError`. Started without a launcher,
    the script trains on one device only.

    ## What to write instead
    ```python
    def _mp_fn(index):
        main()
    ```

    ## When it is fine
    Scripts that start their replicas themselves (`torch_xla.launch`, `xmp.spawn`), that torchrun starts
    (`init_process_group`, AWS Neuron), that another script of the project imports and starts, or that use an
    `Accelerator` are not reported.
    """

    symbol = "xla-missing-mp-fn"
    number = "9767"
    severity = Severity.WARNING
    message = (
        f"this script trains with a Trainer (line %(line)s) but has no '{ENTRY}(index)', which launchers such as"
        f" {LAUNCHER} call in each replica; define it, and call %(started)s() in it"
    )
    subscribes = (LibraryCall,)
    needs = (Role.LAUNCH,)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Training by a Trainer."""
        return is_training(call)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report the function that a script starts, without `_mp_fn`, where a Trainer trains."""
        if not isinstance(event, LibraryCall):
            return
        happening = [event.node, *(site.node for site in event.context.stack if site.node is not None)]
        for module in dict.fromkeys(node.root() for node in happening):
            functions = (function for function in self._started(module) if any(map(function.parent_of, happening)))
            main = next(functions, None)
            if main is not None:
                yield self.finding(main, Confidence.INFERENCE, line=str(event.node.lineno), started=main.name)

    def _started(self, module: nodes.Module) -> list[nodes.FunctionDef]:
        """The functions that a script starts, the last one first; none where it needs no `_mp_fn` or is no script."""
        if self._is_launched_otherwise or ENTRY in module.locals or not needs_xla(module):
            return []
        if any(name.startswith(TORCHRUN_PACKAGES) for name in self.program.imported(module)):
            return []
        return started(module)

    @cached_property
    def _is_launched_otherwise(self) -> bool:
        """Whether something in the programs around starts replicas."""
        return bool(STARTERS & (self.program.called | self.program.importing))


def is_training(name: str) -> bool:
    """Whether a call lets one of transformers' trainers train."""
    package, _, rest = name.partition(".")
    owner, _, method = rest.rpartition(".")
    return package == "transformers" and owner.endswith("Trainer") and method == "train"


def started(module: nodes.Module) -> list[nodes.FunctionDef]:
    """The functions that a script calls where it runs as one, the last one first.

    One that is not given all it needs there gets it from whoever launches it.
    """
    own = [
        function
        for statement in module.nodes_of_class(nodes.If, skip_klass=(nodes.FunctionDef, nodes.ClassDef))
        if is_main_guard(statement)
        for call in statement.nodes_of_class(nodes.Call)
        if isinstance(function := module.locals.get(call.func.as_string(), [None])[0], nodes.FunctionDef)
        and len(call.args) + len(call.keywords) >= len(function.args.args or []) - len(function.args.defaults or [])
    ]
    return own[::-1]


def is_main_guard(statement: nodes.NodeNG) -> bool:
    """True for `if __name__ == "__main__"`."""
    return isinstance(statement, nodes.If) and any(
        isinstance(name, nodes.Name) and name.name == "__name__" for name in statement.test.nodes_of_class(nodes.Name)
    )
