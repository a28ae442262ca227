"""`xla-accelerate-prepare-order`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.values import Instance
from xla_lint.program.queries import Domain, use_of
from xla_lint.rules.accelerate.evidence import ACCELERATOR
from xla_lint.rules.base import Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding


class AcceleratePrepareOrder(Rule):
    """The results of `prepare` are dropped, or bound in another order or number than its arguments.

    ## What it does
    Finds `accelerator.prepare` calls whose results are not used at all, whose targets are more or fewer than the
    arguments, or whose targets take each other's place: a name gets what was prepared from another one, or is used
    as an optimizer although a loader stands at its place. The finding stands at the call.

    ## Why it matters
    `prepare` returns its arguments in their order. Bound in another order, the loop calls a loader as a model, or
    steps a schedule as an optimizer. Where the results are dropped, the loop runs with the plain loader and the
    plain optimizer: nothing cuts the graph and nothing reduces the gradients.

    ## What to write instead
    ```python
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    ```

    ## When it is fine
    New names are fine, as long as each stands where its argument does. Results may be kept as one tuple.
    """

    symbol = "xla-accelerate-prepare-order"
    number = "9784"
    severity = Severity.ERROR
    message = "%(problem)s; bind the results of prepare() to as many names, in the order of its arguments"
    subscribes = (LibraryCall,)
    domain = Domain.ACCELERATE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Calls of `prepare`."""
        return call == f"{ACCELERATOR}.prepare"

    def check(self, event: Event) -> Iterator[Finding]:
        """Report calls whose results go to the wrong places."""
        if not isinstance(event, LibraryCall):
            return
        statement = event.node.parent
        if isinstance(statement, nodes.Expr):
            if event.unpacked or not all(kind_of(value) == "model" for value in event.args):
                yield self.finding(event.node, problem="what prepare() returns is dropped, so nothing prepared is used")
        elif isinstance(statement, nodes.Assign) and len(statement.targets) == 1 and not event.unpacked:
            yield from self._check_targets(event, statement.targets[0])

    def _check_targets(self, call: LibraryCall, target: nodes.NodeNG) -> Iterator[Finding]:
        given = [argument.as_string() for argument in call.node.args] if isinstance(call.node, nodes.Call) else []
        if len(given) != len(call.args):
            return
        if not isinstance(target, (nodes.Tuple, nodes.List)):
            if len(given) > 1 and target.as_string() in given:
                problem = f"'{target.as_string()}' becomes a tuple of {len(given)} prepared objects"
                yield self.finding(call.node, problem=problem)
            return
        targets: list[Any] = list(target.elts)
        if any(isinstance(item, nodes.Starred) for item in targets):
            return
        if len(targets) != len(given):
            yield self.finding(call.node, problem=f"{len(targets)} names take {len(given)} prepared objects")
            return
        for item, argument, value in zip(targets, given, call.args, strict=True):
            name = item.as_string()
            if name != argument and name in given:
                problem = f"'{name}' gets what was prepared from '{argument}'"
                yield self.finding(call.node, problem=problem)
                return
            kind, use = kind_of(value), used_as(item)
            if kind and use and kind != use:
                problem = f"'{name}' is used as the {use}, but gets the {kind} '{argument}'"
                yield self.finding(call.node, Confidence.INFERENCE, problem=problem)
                return


def kind_of(value: Value) -> str:
    """What an argument of `prepare` is, empty where unknown."""
    if isinstance(value, Loader):
        return "loader"
    if isinstance(value, Instance):
        if value.model:
            return "model"
        if value.library.startswith("torch.optim."):
            return "schedule" if "lr_scheduler" in value.library else "optimizer"
    return ""


def used_as(target: nodes.NodeNG) -> str:
    """What a name is used as in the code around, empty where its use does not show it."""
    use = use_of(target)
    return "optimizer" if use.is_optimizer else "model" if use.is_model else ""
