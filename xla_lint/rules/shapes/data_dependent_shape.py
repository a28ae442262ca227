"""`xla-data-dependent-shape`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Fill, Fix, Name, Span
from xla_lint.program.backend.backend import Mode, Property
from xla_lint.program.domain.events import DataShape
from xla_lint.rules.base import EVERYWHERE, Counter, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


COUNTED = {
    Mode.LAZY: "the graph is executed to find it, and compiled again when it changes",
    Mode.EAGER: "the host waits for a count, and compiles what follows for each new one",
    Mode.FUSED: "the fused group ends for a count, and what follows is compiled for each new one",
    Mode.COMPILED: "the compiled graph is broken there, and the rest is compiled for each new count",
}
"""What it costs to know the shape."""
FILL = Fix("write by an operation of fixed shape", safe=True)
FILL_UNSURE = Fix("write by an operation of fixed shape, where the mask has the shape of the tensor", safe=False)
WHERE = Name("torch", "where")
RESULT = (
    "the shape of the result of '%s'",
    "keep the shape fixed, with torch.where, masked_fill or a weight of zero",
)
INSIDE = "what '%s' is compiled for", "do it seldom, or on the host"
"""What depends on values, and what to do about it."""


class DataDependentShape(Rule):
    """The shape of a result depends on the values of a tensor.

    ## What it does
    Finds operations in step code whose result has as many elements as some values tell: `nonzero`, `torch.where`
    with one argument, `masked_select`, indexing by a boolean mask (`x[mask]`, and `x[mask] = v` as well), `unique`,
    `bincount`, `repeat_interleave` with a tensor of repeats, and `one_hot` without `num_classes`. The finding stands
    at the expression.

    ## Why it matters
    The shape must be known to record what follows, so the pending graph is executed and a value read at once; the
    barrier executes the step again. Each new count is a new shape, and compiles what follows anew. Assigning through
    a mask does the same, because it looks for the true elements first. `repeat_interleave(..., output_size=n)` does
    not help: the operation is not lowered, and runs on the CPU.

    ## What to write instead
    Keep the shape and choose the values:

    ```python
    x = torch.where(mask, v, x)  # x[mask] = v
    x = x.masked_fill(mask, 0.0)  # x[mask] = 0.0
    mean = (x * mask).sum() / mask.sum()  # x[mask].mean()
    codes = F.one_hot(labels, num_classes=10)
    ```

    ## When it is fine
    On host tensors, as in a collate function. `masked_fill`, `torch.where` with three arguments, `topk` and `sort`
    have fixed shapes.

    ## On TorchTPU and TorchNeuron
    TorchTPU fetches the count to the host and compiles for it (read in the source for `nonzero` and `bincount`,
    reported for the others), and so it does for `histc` and `ctc_loss`, whose results have fixed shapes (reported).
    In compiled code the graph breaks there. TorchNeuron writes one number through a mask (`x[mask] = 0.0`) by an
    operation of fixed shape (read in the source); beyond that it was not examined, but that its compiler needs static
    shapes (documented).
    """

    symbol = "xla-data-dependent-shape"
    number = "9724"
    severity = Severity.WARNING
    message = "%(what)s depends on values%(where)s: %(cost)s; %(advice)s"
    subscribes = (DataShape,)
    modes = EVERYWHERE
    fixes = (FILL, FILL_UNSURE)
    costs = (Counter.COMPILES, Counter.EXECUTIONS, Counter.READS)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report shapes that depend on values, in step code."""
        if isinstance(event, DataShape) and event.context.step is not None and not self._is_fill(event):
            what, advice = INSIDE if event.inside else RESULT
            cost = COUNTED[self.program.mode_of(event)]
            facts = {"what": what % event.spelled, "cost": cost, "advice": advice}
            found = self.finding(event.node, confidence(event.context), where=where(event.context), **facts)
            assignment = event.node.parent
            if isinstance(assignment, nodes.Assign) and isinstance(event.node, nodes.Subscript):
                fix = FILL if has_shape_of(event.node) else FILL_UNSURE
                found = found.repaired_by(fix, Fill(Span.of(assignment), WHERE))
            yield found

    def _is_fill(self, event: DataShape) -> bool:
        """Whether the backend writes by an operation of fixed shape, in place of looking for the true elements."""
        return event.filled and self.program.backend.has(Property.FILLS_BY_MASK)


def has_shape_of(target: nodes.Subscript) -> bool:
    """Whether a mask surely has the shape of the tensor that it indexes: it is made by a test of that tensor.

    What broadcasts to more dimensions than the tensor has is no index of it.
    """
    tensor = target.value.as_string()

    def tests(mask: nodes.NodeNG) -> bool:
        if isinstance(mask, nodes.Compare):
            return tensor in (mask.left.as_string(), *(operand.as_string() for _, operand in mask.ops))
        if isinstance(mask, nodes.BinOp):
            return mask.op in ("&", "|") and (tests(mask.left) or tests(mask.right))
        if isinstance(mask, nodes.UnaryOp):
            return mask.op == "~" and tests(mask.operand)
        if not isinstance(mask, nodes.Call) or not isinstance(mask.func, nodes.Attribute):
            return False
        given = [argument.as_string() for argument in mask.args] or [mask.func.expr.as_string()]
        return mask.func.attrname in ("isnan", "isinf", "isfinite") and given == [tensor]

    return tests(target.slice)
