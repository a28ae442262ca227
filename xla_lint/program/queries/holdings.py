"""What objects of libraries hold: an optimizer its parameters, a sampler its rows, a partial its function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.values import UNKNOWN, Instance, Location, Mapping, Tensor, options
from xla_lint.program.domain.walk import found_in
from xla_lint.program.library.data import SAMPLER
from xla_lint.program.library.optimizers import KEPT, models_of, origins_of

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Origin, Value


def setting(value: Value | None, name: str) -> Value | None:
    """What an object keeps under the public name of an argument or attribute; None where that is not known."""
    return value.attributes.get(name) if isinstance(value, Instance) else None


def origins_held(optimizer: Instance) -> frozenset[Origin]:
    """The models that an optimizer's parameters come from."""
    return origins_of(optimizer.attributes.get("params"))


def models_held(optimizer: Instance) -> set[Instance]:
    """The models whose own `parameters()` an optimizer holds."""
    return models_among(optimizer.attributes.get("params"))


def models_among(parameters: Value | None) -> set[Instance]:
    """The models whose own `parameters()` are among some parameters, given in any way that optimizers take."""
    return models_of(parameters) if parameters is not None else set()


def step_counter(optimizer: Instance) -> Tensor | None:
    """What counts the steps of a parameter, where the program has put a tensor on the device there itself."""
    for kept in found_in(optimizer.attributes.get(KEPT, UNKNOWN), Mapping):
        counters = (option for option in options(kept.entries.get("step", UNKNOWN)) if isinstance(option, Tensor))
        on_device = next((counter for counter in counters if counter.place is Location.DEVICE), None)
        if on_device is not None:
            return on_device
    return None


def grouped_sampler(batches: Instance) -> Value | None:
    """The sampler whose rows a `BatchSampler` groups."""
    return batches.attributes.get(SAMPLER)


def drawn_rows(sampler: Instance) -> Value | None:
    """How many rows a `WeightedRandomSampler` draws."""
    return sampler.attributes.get("*rows")


def wrapped_function(value: Value | None) -> Value | None:
    """What a `functools.partial` calls; None for anything else."""
    if isinstance(value, Instance) and value.library == "functools.partial":
        return value.attributes.get("function")
    return None
