"""What frameworks call the methods of a class with, every step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.objects import library_base, member_of
from xla_lint.program.domain.values import NUMBER, UNKNOWN, Instance, Location, Mapping, Move, Tensor, Value
from xla_lint.program.library.registry import HOOKS, RESULTS
from xla_lint.program.machine.position import MODULE

if TYPE_CHECKING:
    from xla_lint.program.domain.definitions import Class
    from xla_lint.program.machine.machine import Machine

GIVING = ("__getitem__", "__call__")
"""The methods by which loaders ask for a row or a batch."""
Maker = Callable[[], Value]
"""Makes a value of one kind."""


def batch() -> Value:
    """A batch on the device, of unknown structure."""
    return Tensor(Location.DEVICE, unstructured=True, certain=False)


def batch_of_names() -> Value:
    """A batch on the device that is a dict: iterating it gives names."""
    return Mapping({}, batch())


def outputs() -> Value:
    """What the step computed: pending."""
    return Tensor(Location.DEVICE, recorded_in=1, unstructured=True, grad=False, certain=False)


def materialised() -> Value:
    """What the step computed, which a barrier has ended."""
    return Tensor(Location.DEVICE, unstructured=True, certain=False)


def model() -> Value:
    """The model, which the framework has moved to the device."""
    moves = (Move(0, Location.DEVICE, MODULE),)
    return Instance(None, "torch.nn.Module", place=Location.DEVICE, model=True, certain=False, moves=moves)


def number() -> Value:
    """A step's number."""
    return NUMBER


def optimizer() -> Value:
    """The optimizer, its parameters on the device."""
    return Instance(None, "torch.optim.Optimizer", place=Location.DEVICE, certain=False)


def schedule() -> Value:
    """The schedule of the learning rate."""
    return Instance(None, "torch.optim.lr_scheduler.LRScheduler")


def loader() -> Value:
    """A loader, before or behind the wrapper for the device."""
    return Loader(None, UNKNOWN)


def anything() -> Value:
    """What the analysis does not follow."""
    return UNKNOWN


def given(
    positional: tuple[Maker, ...] | None, keywords: dict[str, Maker] | None = None
) -> tuple[list[Value], dict[str, Value]] | None:
    """Fresh values of these kinds, None where there are none to be given."""
    if positional is None:
        return None
    return [make() for make in positional], {name: make() for name, make in (keywords or {}).items()}


def has_hooks(cls: Class) -> bool:
    """Whether a framework calls methods of a class: hooks, or what gives a loader a row or a batch."""
    return HOOKS.find(library_base(cls)) is not None or any(member_of(cls, name) is not None for name in GIVING)


def hook_parameters(function: Function) -> list[Value] | None:
    """What a framework calls a method with every step, after `self`; None where the method is no such hook."""
    found = _given_to(function)
    return None if found is None else found[0]


def hook_keywords(function: Function) -> dict[str, Value]:
    """What a framework gives a hook by keyword, whether its signature names it or not."""
    found = _given_to(function)
    return {} if found is None else found[1]


def _given_to(function: Function) -> tuple[list[Value], dict[str, Value]] | None:
    handler = HOOKS.find(library_base(function.owner)) if function.owner is not None else None
    return handler(function.name) if handler is not None else None


def take_result(machine: Machine, method: Function, returned: Value) -> None:
    """Let a framework go on with what a method that it has called returned."""
    handler = RESULTS.find(library_base(method.owner), method.name) if method.owner is not None else None
    if handler is not None and machine.at.state is not None:
        handler(machine, method, returned)
