"""`xla-graph-growth`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Append, Fix, Span
from xla_lint.program.domain.events import History
from xla_lint.rules.base import OUTSIDE_COMPILED, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


DETACH = Fix("add the detached value", safe=True)
DETACH_UNSURE = Fix("add the detached value, from which nothing can be learned", safe=False)
READERS = frozenset({"item", "detach", "cpu", "tolist"})


class GraphGrowth(Rule):
    """A running total keeps the autograd history of every step.

    ## What it does
    Finds totals such as `total += loss` in step code whose values still carry their autograd history. The finding
    stands at the assignment.

    ## Why it matters
    The total refers to the loss of each step, and through it to that step's backward graph. Each step adds nodes to
    a chain that is not freed before the total is. The XLA graph does not grow from it: barriers still cut it, and
    the step is neither larger nor compiled again. What grows is the host's memory, and the work of whoever walks
    the chain.

    ## What to write instead
    Add the detached value, which stays on the device:

    ```python
    total += loss.detach()
    ```

    ## When it is fine
    Under `torch.no_grad()`, and for a sum of losses within one step on which `backward()` is called.
    """

    symbol = "xla-graph-growth"
    number = "9716"
    severity = Severity.REFACTOR
    message = (
        "'%(total)s' adds up values together with their autograd history%(where)s: the chain grows every step and is"
        " not freed; add the detached value, as in 'total += loss.detach()'"
    )
    subscribes = (History,)
    modes = OUTSIDE_COMPILED
    fixes = (DETACH, DETACH_UNSURE)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report totals that keep history across steps."""
        if isinstance(event, History) and event.loop.is_step and event.context.step is not None:
            found = self.finding(event.node, confidence(event.context), total=event.total, where=where(event.context))
            added = _added(event)
            fix = DETACH if only_read(event) else DETACH_UNSURE
            yield found.repaired_by(fix, Append(Span.of(added), ".detach()") if added is not None else None)


def _added(event: History) -> nodes.NodeNG | None:
    """The expression that is added to the total."""
    node = event.node
    if isinstance(node, nodes.AugAssign):
        return node.value
    if not isinstance(node, nodes.Assign) or not isinstance(node.value, nodes.BinOp):
        return None
    left, right = node.value.left, node.value.right
    if left.as_string() == event.total:
        return right
    return left if right.as_string() == event.total and node.value.op == "+" else None


def only_read(event: History) -> bool:
    """Whether all that the function around does with the total is to print it, or to ask for its value."""
    names = [name for name in event.node.scope().nodes_of_class(nodes.Name) if name.name == event.total]
    others = [name for name in names if event.node not in name.node_ancestors()]
    return event.total.isidentifier() and all(map(_is_read, others))


def _is_read(name: nodes.Name) -> bool:
    parent = name.parent
    if isinstance(parent, nodes.BinOp):
        parent = parent.parent
    if isinstance(parent, nodes.Attribute):
        return parent.attrname in READERS
    if isinstance(parent, nodes.Call):
        return isinstance(parent.func, nodes.Name) and parent.func.name in ("float", "print")
    return isinstance(parent, nodes.FormattedValue)
