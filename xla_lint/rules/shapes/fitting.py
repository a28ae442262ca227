"""Rows that are brought to one length before or after they are padded to the longest of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.values import Number, Sequence, Trait
from xla_lint.program.domain.walk import tensors_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import LibraryCall
    from xla_lint.program.domain.values import Value
    from xla_lint.program.queries import Program

PAD = "torch.nn.functional.pad"
LAYERS = tuple(f"torch.nn.{name}Pad{dimensions}d" for name in ("Constant", "Zero") for dimensions in (1, 2))
FILLERS = ("torch.zeros", "torch.ones", "torch.full")
CAT = ("torch.cat", "torch.concat", "torch.concatenate")
FITTING = frozenset({PAD, *LAYERS, *FILLERS, *CAT, *(f"{layer}.__call__" for layer in LAYERS)})
"""What gives a tensor another length."""


def brought_to_length(program: Program, padding: LibraryCall) -> bool:
    """Whether the rows, or the batch that they become, are given a length that is computed when the batch is made.

    So many columns more for all batches leave lengths as different as they were.
    """
    return any(takes_batch(call, padding) or precedes(call, padding) for call in fitting_calls(program)) or any(
        fills_up(call, padding, program) for call in program.calls(*CAT)
    )


def fitting_calls(program: Program) -> Iterator[LibraryCall]:
    """The calls that pad something by a width that is computed."""
    yield from (call for call in program.calls(PAD) if is_computed(call.argument(1, "pad")))
    for built in (call for call in program.calls(*LAYERS) if is_computed(call.argument(0, "padding"))):
        yield built
        yield from (
            call
            for call in program.calls(f"{built.name}.__call__")
            if getattr(call.receiver, "node", None) is built.node
        )


def is_computed(size: Value | None) -> bool:
    """Whether a size, or a part of it, is another one for each batch, as what is missing to one length is."""
    parts = [size] if not isinstance(size, Sequence) else size.items or [size.element]
    return any(not isinstance(n, Number) or (n.const is None and Trait.LONGEST not in n.traits) for n in parts)


def takes_batch(call: LibraryCall, padding: LibraryCall) -> bool:
    """Whether a call is given the batch that was padded."""
    return bool(call.args) and any(
        tensor.line == padding.node.lineno and tensor.home is padding.context.module
        for tensor in tensors_in(call.args[0])
    )


def precedes(call: LibraryCall, padding: LibraryCall) -> bool:
    """Whether a call stands before the padding in one function, and so may make a row as long as all are to be."""
    return call.node.scope() is padding.node.scope() and int(call.node.lineno or 0) <= int(padding.node.lineno or 0)


def fills_up(call: LibraryCall, padding: LibraryCall, program: Program) -> bool:
    """Whether columns of a filler are put beside the batch, as many as are missing."""
    if not takes_batch(call, padding):
        return False
    fillers = {filler.node.lineno for filler in program.calls(*FILLERS) if any(map(is_computed, filler.args))}
    return any(tensor.line in fillers for tensor in tensors_in(call.args[0]))
