"""The arguments of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.walk import tensors_in

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Tensor, Value


class Arguments:
    """The arguments of one call."""

    __slots__ = ("keywords", "node", "positional", "rest", "unpacked")

    def __init__(
        self,
        node: nodes.NodeNG,
        positional: list[Value],
        keywords: dict[str, Value] | None = None,
        unpacked: bool = False,
        rest: Tensor | None = None,
    ) -> None:
        self.node = node
        self.positional = positional
        self.keywords = keywords if keywords is not None else {}
        self.unpacked = unpacked
        """True where `*args` or `**kwargs` may bring more."""
        self.rest = rest
        """What each of those may be that `*args` and `**kwargs` bring, where these hold tensors."""

    def get(self, position: int, keyword: str = "") -> Value | None:
        """The argument for a parameter, None where it is not given."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[position] if position < len(self.positional) else None

    def values(self) -> list[Value]:
        """Every argument."""
        return [*self.positional, *self.keywords.values()]

    def tensors(self) -> list[Tensor]:
        """Every tensor among the arguments and in their containers."""
        return [tensor for value in self.values() for tensor in tensors_in(value, 2)]

    def node_of(self, position: int, keyword: str = "") -> nodes.NodeNG | None:
        """The expression given for a parameter, None where it cannot be told."""
        if not isinstance(self.node, nodes.Call):
            return None
        for item in self.node.keywords:
            if item.arg == keyword:
                return item.value
        if position < len(self.node.args) and not any(isinstance(a, nodes.Starred) for a in self.node.args):
            return self.node.args[position]
        return None
