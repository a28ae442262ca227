"""How messages say where something happens, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Charge, Mode
from xla_lint.program.queries import file_name
from xla_lint.rules.base import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from astroid import nodes

    from xla_lint.program.domain.contexts import CallSite, Context
    from xla_lint.program.domain.values import Tensor


NEW_SIZE = {
    Mode.LAZY: "compiles the step again",
    Mode.EAGER: "compiles anew every operation that it meets",
    Mode.FUSED: "compiles anew every group of operations that it meets",
    Mode.COMPILED: "compiles the function again",
}
"""What a size does that was not there before."""
WAITS = {
    Charge.EXECUTES: "one extra execution and a stall every step",
    Charge.WAITS: "the host waits for the device every step",
    Charge.CUTS: "the fused group of operations ends there every step, and the host waits for the device",
    Charge.BREAKS: "the compiled graph is broken there every step, and the host waits for the device",
}
"""What a read in every step costs of a value that is not yet computed."""


def where(context: Context) -> str:
    """The step code around an event and the calls that lead from there, with a leading space.

    Empty outside step code, unless calls led there. Files are named where they are not the one at hand.
    """
    modules = [site.node.root() for site in context.calls if site.node is not None]
    home = context.step.node.root() if context.step else (modules[0] if modules else None)
    place = f" {context.step.describe()}" if context.step else ""
    if context.step and context.module is not None and home is not context.module:
        place += f" of {file_name(home)}"
    chain = ", ".join(link(site, home) for site in context.calls)
    return f"{place} (through {chain})" if chain else place


def link(site: CallSite, home: nodes.NodeNG | None) -> str:
    """One call of a chain; the file is named where it is not the one at hand."""
    module = site.node.root() if site.node is not None else home
    elsewhere = f" of {file_name(module)}" if module is not home else ""
    return f"'{site.function}' called on line {site.line}{elsewhere}"


def line(place: nodes.NodeNG | None, seen_from: nodes.NodeNG) -> str:
    """The number of a node's line, as a finding at another node says it: `12`, or `12 of train.py` in another file."""
    if place is None:
        return "?"
    root = place.root()
    return str(place.lineno or 0) + (f" of {file_name(root)}" if root is not seen_from.root() else "")


def lines(places: Iterable[nodes.NodeNG], home: nodes.NodeNG) -> str:
    """The lines of some nodes, in brackets with a leading space; files are named where they are not `home`."""
    found = {
        (node.root() is not home, file_name(node.root()) if node.root() is not home else "", int(node.lineno or 0))
        for node in places
    }
    words = [f"line {line}" + (f" of {name}" if name else "") for _, name, line in sorted(found)]
    return f" ({', '.join(words)})" if words else ""


def computed(tensor: Tensor, context: Context) -> str:
    """The line that computed a tensor, in brackets with a leading space; empty where unknown."""
    elsewhere = (
        f" of {file_name(tensor.home)}" if tensor.home is not None and context.module not in (None, tensor.home) else ""
    )
    return f" (computed on line {tensor.line}{elsewhere})" if tensor.line else ""


def called(dotted: str) -> str:
    """The last part of a library call's dotted name; for a call of an object, the name of its class."""
    return dotted.removesuffix(".__call__").rpartition(".")[2]


def confidence(context: Context, *tensors: Tensor, on_every_path: bool = True) -> Confidence:
    """How sure a finding about these tensors is in this context, and that it holds in every turn of the step loop."""
    if not all(tensor.certain for tensor in tensors) or (context.step is not None and not context.step.certain):
        return Confidence.INFERENCE
    sure = on_every_path and not any(tensor.assumed for tensor in tensors)
    sure &= context.step is None or context.every_turn
    return Confidence.HIGH if sure else Confidence.CONTROL_FLOW
