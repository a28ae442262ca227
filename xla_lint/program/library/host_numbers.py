"""Numbers of the host: `math`, `statistics`, clocks, random numbers, NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    OWN,
    UNKNOWN,
    Instance,
    Number,
    Sequence,
    Trait,
    Value,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.library.builtin import data_number, drawn
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

CLOCK = Number(traits=frozenset({Trait.CLOCK}))
KEPT = OWN | {Trait.PREPARED}
"""The traits of a number that what `math` computes from it has too."""
DRAWS = frozenset(
    "random randint uniform choice randrange gauss normal rand integers binomial beta getrandbits random_sample "
    "choices sample triangular standard_normal poisson exponential randn".split()
)


OF_EACH = frozenset(
    {"abs", "ceil", "clip", "cos", "exp", "floor", "int32", "int64", "int_", "log", "maximum", "minimum", "rint",
     "round", "sin", "sqrt", "square"}
)  # fmt: skip
"""The functions of numpy that give a number where they are given numbers alone."""


@function("math.prod")
def product(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A product of tensors is a tensor; nothing is read."""
    values = arguments.get(0) or UNKNOWN
    return machine.derived(arguments.node, [values]) if any(True for _ in tensors_in(values)) else NUMBER


@function("math.")
def mathematics(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Functions of `math` read tensors."""
    if machine.read_each(arguments, How.VALUE, f"{dotted}()"):
        return data_number(machine, *arguments.values())
    return computed(arguments.positional)


def computed(values: list[Value]) -> Number:
    """A number computed from others: it changes with them."""
    numbers = [value for value in values if isinstance(value, Number)]
    loops = frozenset(loop for number in numbers for loop in number.loops)
    return Number(None, loops, frozenset(trait for number in numbers for trait in number.traits) & KEPT)


@function("time.")
def clock(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A clock's number."""
    if dotted == "time.sleep":
        return NONE
    return CLOCK if dotted.rpartition(".")[2] in ("time", "perf_counter", "monotonic", "process_time") else NUMBER


@function("random.", "numpy.random.")
def draw(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A random number drawn on the host, or the generator that draws it."""
    last = dotted.rpartition(".")[2]
    if last == "choice" or (dotted.startswith("random.") and last in ("choices", "sample")):
        return drawn_item(machine, last, arguments)
    if last in ("Random", "SystemRandom", "default_rng", "RandomState", "Generator"):
        return Instance(None, "random.Random")
    return drawn(machine) if last in DRAWS else UNKNOWN


def drawn_item(machine: Machine, name: str, arguments: Arguments) -> Value:
    """An item drawn from a collection: a number that changes, or any other value that is as good as the next.

    `choices` and `sample` give a list of them.
    """
    source = arguments.get(0)
    item = machine.iterate(source, None, arguments.node) if source is not None else UNKNOWN
    item = drawn(machine) if item is UNKNOWN or isinstance(item, Number) else item
    return item if name == "choice" else Sequence(None, item)


@methods("random.Random")
def draw_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A number drawn from a generator object."""
    if name in ("choice", "choices", "sample"):
        return drawn_item(machine, name, arguments)
    return drawn(machine) if name in DRAWS else UNKNOWN


@function("numpy.")
def array(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """NumPy refuses tensors on the device: nothing is read. Given a rank, it may load a part of the data."""
    machine.hand_over(arguments)
    name, given = dotted.rpartition(".")[2], arguments.positional
    if name in OF_EACH and given and all(isinstance(value, Number) for value in given):
        return computed(given)
    return NUMBER if name in ("mean", "sum", "sqrt", "log", "exp", "ceil", "prod") else UNKNOWN


@function(*(f"statistics.{name}" for name in ("fmean", "geometric_mean", "median", "median_low", "median_high")))
def statistic(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What compares tensors or converts them to floats reads them; `mean` and the rest refuse them (Python 3.11)."""
    for value in arguments.positional[:1]:
        machine.read(arguments.node, arguments.node_of(0), value, How.VALUE, f"{dotted}()")
    return NUMBER


@function("operator.index")
def index(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A tensor used as an index is read."""
    machine.read(arguments.node, arguments.node_of(0), arguments.get(0) or NONE, How.VALUE, "operator.index()")
    return NUMBER
