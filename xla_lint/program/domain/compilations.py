"""What `torch.compile` is asked to do with a function or a model, and what leads out of compiled code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """One call of `torch.compile`, or one decorator, for the device of a native backend."""

    node: nodes.NodeNG | None = None
    keywords: dict[str, Value] = field(default_factory=dict)
    unpacked: bool = False
    """True where `**kwargs` may bring further arguments."""


LEFT_OUT = Compilation()
"""What stands for `torch.compiler.disable`: such a function is not traced, whoever calls it."""


def traced(compilation: Compilation) -> Compilation | None:
    """The compilation in whose code the body of what was compiled stands: none for what is left out."""
    return None if compilation is LEFT_OUT else compilation
