"""How messages say where something happens, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.rules.base import Confidence

if TYPE_CHECKING:
    from xla_lint.program.events import Context
    from xla_lint.program.values import Tensor


def where(context: Context) -> str:
    """The step code around an event and the calls that lead from there, with a leading space.

    Empty outside step code, unless calls led there.
    """
    place = f" {context.step.describe()}" if context.step else ""
    chain = ", ".join(f"'{call.function}' called on line {call.line}" for call in context.calls)
    return f"{place} (through {chain})" if chain else place


def computed(tensor: Tensor) -> str:
    """The line that computed a tensor, in brackets with a leading space; empty where unknown."""
    return f" (computed on line {tensor.line})" if tensor.line else ""


def confidence(context: Context, *tensors: Tensor, certain: bool = True) -> Confidence:
    """How sure a finding about these tensors is, in this context."""
    if not all(tensor.sure for tensor in tensors) or (context.step is not None and not context.step.sure):
        return Confidence.INFERENCE
    return Confidence.HIGH if certain else Confidence.CONTROL_FLOW
