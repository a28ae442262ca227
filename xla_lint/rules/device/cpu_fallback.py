"""`xla-cpu-fallback`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.knowledge import lowering
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import Instance
from xla_lint.program.queries import is_device
from xla_lint.rules.arguments import constant, device_tensor, device_tensors
from xla_lint.rules.base import Counter, Rule, Severity
from xla_lint.rules.wording import called, confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.knowledge.lowering import Condition, Constant, Fallback
    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Tensor
    from xla_lint.rules.base import Finding

METHOD, MODULE, CALL = "torch.Tensor.", "torch.nn.", ".__call__"


class CpuFallback(Rule):
    """An operation without an XLA lowering runs on the CPU in step code.

    ## What it does
    Finds operations in step code that torch_xla cannot translate: `huber_loss`, `ctc_loss`, `grid_sample`, `unfold` and
    `fold`, `embedding_bag`, bicubic and 1-D interpolation, `median`, `mode`, `histc`, `searchsorted`, `isin`, `fft`,
    most decompositions of `torch.linalg`, `lgamma`, `logcumsumexp` and others; as functions, methods of tensors, or
    modules. Some do so only with some arguments, such as `round(decimals=2)`, and some only in the backward pass, such
    as `glu` and `cdist`: those are reported where gradients flow through them in a training loop.

    ## Why it matters
    The pending graph is executed for the operation's inputs, they are copied to the host, the CPU computes, and the
    result is copied back. The execution is thrown away, so the barrier runs the same work again. That happens in every
    step, for each such operation.

    ## What to write instead
    Write it with operations that are lowered. `smooth_l1_loss(beta=d)` is `huber_loss(delta=d)` divided by `d`;
    `quantile(x, 0.5)` and `kthvalue` replace `median`; `scatter_add` of ones replaces `histc`; a comparison with
    `any()` replaces `isin`. Or move it out of the step, into the input pipeline.

    ## When it is fine
    Outside step code, on host tensors, and where the arguments are such that it is lowered. Operations whose result's
    shape depends on values (`nonzero`, `unique`) are `xla-data-dependent-shape`. The runtime's own list of what fell
    back is `torch_xla.debug.metrics.executed_fallback_ops()`.
    """

    symbol = "xla-cpu-fallback"
    number = "9764"
    severity = Severity.WARNING
    message = (
        "'%(call)s' has no XLA lowering%(part)s and runs on the CPU%(where)s: one extra execution and a transfer each"
        " way every step; use operations that have one, or move it out of the step"
    )
    subscribes = (LibraryCall,)
    costs = (Counter.EXECUTIONS, Counter.READS)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Operations that may fall back."""
        return bool(fallbacks(call))

    def check(self, event: Event) -> Iterator[Finding]:
        """Report operations that fall back to the CPU in step code."""
        if not isinstance(event, LibraryCall) or event.context.step is None or event.context.periodic:
            return
        tensors = operands(event)
        placed = is_device(event.kwargs.get("device"), self.program.backend)
        if not tensors and not placed:
            return
        for fallback in fallbacks(event.name):
            if fallback.backward and not (event.context.step.trains and any(tensor.grad for tensor in tensors)):
                continue
            if all(holds(condition, event) for condition in fallback.conditions):
                part = " for its backward pass" if fallback.backward else ""
                yield self.finding(
                    event.node,
                    confidence(event.context, *tensors),
                    call=called(event.name),
                    part=f"{part} ({', '.join(fallback.operators)})",
                    where=where(event.context),
                )
                return


def operands(call: LibraryCall) -> list[Tensor]:
    """The device tensors that an operation works on."""
    own = device_tensor(call.receiver) if call.name.startswith(METHOD) else None
    return [*([own] if own is not None else []), *device_tensors(call)]


def fallbacks(call: str) -> tuple[Fallback, ...]:
    """What is known of a call that may run on the CPU, by its dotted name."""
    if call.startswith(METHOD):
        return lowering.operation(call.removeprefix(METHOD).rstrip("_"))
    if call.startswith(MODULE) and call.endswith(CALL):
        return lowering.module(call.removeprefix(MODULE).removesuffix(CALL))
    if not call.startswith("torch."):
        return ()
    name = call.removeprefix("torch.")
    return lowering.operation(name) or lowering.operation(f"nn.functional.{name}")


def holds(condition: Condition, call: LibraryCall) -> bool:
    """Whether a condition on an argument of the operation holds for a call of it."""
    if call.unpacked:
        return False
    if isinstance(call.receiver, Instance):
        return condition.holds(*constructed_with(condition, call.receiver.node))
    position = condition.position if condition.position is not None else len(call.args)
    if call.name.startswith(METHOD):
        position -= 1
    value = call.argument(position, condition.argument)
    return condition.holds(value is not None, constant(value))


def constructed_with(condition: Condition, made: nodes.NodeNG | None) -> tuple[bool, Constant | None]:
    """Whether a module's constructor was given an argument, and what the source says it is."""
    if not isinstance(made, nodes.Call):
        return False, None
    value = next((keyword.value for keyword in made.keywords if keyword.arg == condition.argument), None)
    position = condition.module_position
    if value is None and position is not None and position < len(made.args):
        value = made.args[position]
    if isinstance(value, nodes.Const) and isinstance(value.value, (bool, int, float, str)):
        return True, value.value
    return value is not None, None
