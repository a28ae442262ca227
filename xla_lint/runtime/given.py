"""What a graph is given: its inputs by shape, and the line of the program that brought each into being."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.runtime.places import is_backend, own
from xla_lint.runtime.sources import line_of, tensor_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.runtime.graphs import Graph
    from xla_lint.runtime.places import Frame

    Kinds = tuple[tuple[tuple[str, Frame | None], int], ...]

ROOM = 64
"""The kinds of inputs of one graph that are told apart."""


@dataclass(frozen=True, slots=True)
class Given:
    """Inputs of one shape that one line moved to the device, or used first after the barrier before."""

    number: int
    shape: str
    """`f32[8,4]`."""
    file: str
    """Empty where no line was noted."""
    line: int
    source: str
    """The text of that line."""
    tensor: str = ""
    """Its name in that line, where that moves one tensor."""


def kinds(graph: Graph) -> Kinds:
    """The inputs of a graph: shape, line and how many, the most frequent kinds first."""
    return tuple(Counter((each.shape, own(each.stack)) for each in graph.inputs).most_common(ROOM))


def given(found: Kinds) -> Iterator[Given]:
    """The same with the text of the lines."""
    for (shape, place), number in found:
        if place is None or is_backend(place.file):
            yield Given(number, shape, "", 0, "")
        else:
            source, tensor = line_of(place.file, place.line), tensor_at(place.file, place.line)
            yield Given(number, shape, place.file, place.line, source, tensor)
