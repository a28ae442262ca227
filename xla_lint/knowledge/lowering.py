"""Operations without an XLA lowering: they run on the CPU. Source: `lowering.json` names it.

A proof test runs a part of them again.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from xla_lint.knowledge.tables import load

Constant = bool | int | float | str
DIFFERENT_TYPES = (bool, str)


class Condition(NamedTuple):
    """What an argument must be for the operation to run on the CPU."""

    argument: str
    position: int | None
    """Its position among the operation's parameters, the input tensor included."""
    module_position: int | None
    """Its position among the parameters of the module's constructor."""
    one_of: tuple[Constant, ...] | None
    """It is given, as one of these."""
    above: float | None
    """It is given, and greater than this."""
    differs: float | None
    """It is given, and is not this."""
    absent_or: tuple[Constant, ...] | None
    """It is not given, or given as one of these."""

    def holds(self, given: bool, value: Constant | None) -> bool:
        """Whether it holds for an argument; `value` is None where the source does not say it."""
        if self.absent_or is not None:
            return not given or value in self.absent_or
        if value is None:
            return False
        if self.one_of is not None:
            return value in self.one_of
        if isinstance(value, DIFFERENT_TYPES):
            return False
        return value > self.above if self.above is not None else value != self.differs


class Fallback(NamedTuple):
    """An operation that runs on the CPU, always or under conditions."""

    operators: tuple[str, ...]
    """What torch_xla reports as fallen back."""
    backward: bool
    """True where only its backward pass does."""
    conditions: tuple[Condition, ...]


def _condition(row: dict[str, Any]) -> Condition:
    return Condition(
        row["argument"],
        row.get("position"),
        row.get("module_position"),
        tuple(row["is"]) if "is" in row else None,
        row.get("above"),
        row.get("differs"),
        tuple(row["absent_or"]) if "absent_or" in row else None,
    )


@functools.cache
def _tables() -> tuple[dict[str, tuple[Fallback, ...]], dict[str, tuple[Fallback, ...]]]:
    operations: dict[str, tuple[Fallback, ...]] = {}
    modules: dict[str, tuple[Fallback, ...]] = {}
    for row in load("lowering")["operations"]:
        conditions = tuple(_condition(item) for item in row.get("only", []))
        fallback = Fallback(tuple(row["operators"]), row.get("backward", False), conditions)
        for name in (row["name"], *row.get("aliases", [])):
            operations[name] = (*operations.get(name, ()), fallback)
        for name in row.get("modules", []):
            modules[name] = (*modules.get(name, ()), fallback)
    return operations, modules


def operation(name: str) -> tuple[Fallback, ...]:
    """The fallbacks of a function of torch (`nn.functional.huber_loss`, `median`); a method has its function's name."""
    return _tables()[0].get(name, ())


def module(name: str) -> tuple[Fallback, ...]:
    """The fallbacks of calling a module of `torch.nn` by its class (`HuberLoss`)."""
    return _tables()[1].get(name, ())
