"""The standard library and NumPy, as far as they meet tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Class, Function, Method
from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import choose
from xla_lint.program.domain.loaders import Logger
from xla_lint.program.domain.objects import DEFAULT, SINGLE_DISPATCH
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN,
    Choice,
    Instance,
    Mapping,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    Value,
)
from xla_lint.program.library.builtin import DATA, drawn
from xla_lint.program.library.registry import function, methods_of, objects
from xla_lint.program.machine.machine import Arguments

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.machine import Machine

CLOCK = Number(traits=frozenset({Trait.CLOCK}))
LEVELS = {"debug": 10, "info": 20, "warning": 30, "warn": 30, "error": 40, "exception": 40, "critical": 50, "fatal": 50}
LEVEL_NAMES = {"NOTSET": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "WARN": 30, "ERROR": 40, "CRITICAL": 50}
DRAWS = frozenset(
    "random randint uniform choice randrange gauss normal rand integers binomial beta getrandbits random_sample "
    "choices sample triangular standard_normal poisson exponential randn".split()
)


@function("math.")
def mathematics(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Functions of `math` read tensors."""
    if machine.read_each(arguments, How.VALUE, f"{dotted}()"):
        return DATA
    loops = frozenset(loop for v in arguments.positional if isinstance(v, Number) for loop in v.loops)
    return Number(None, loops)


@function("time.")
def clock(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A clock's number."""
    return CLOCK if dotted.rpartition(".")[2] in ("time", "perf_counter", "monotonic", "process_time") else NUMBER


@function("random.", "numpy.random.")
def draw(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A random number drawn on the host, or the generator that draws it."""
    last = dotted.rpartition(".")[2]
    if last in ("choice", "choices", "sample"):
        return drawn_item(machine, arguments)
    if last in ("Random", "SystemRandom", "default_rng", "RandomState", "Generator"):
        return Instance(None, "random.Random")
    return drawn(machine) if last in DRAWS else UNKNOWN


def drawn_item(machine: Machine, arguments: Arguments) -> Value:
    """An item drawn from a collection: a number that changes, or any other value that is as good as the next."""
    source = arguments.get(0)
    item = machine.iterate(source, None, arguments.node) if source is not None else UNKNOWN
    return drawn(machine) if item is UNKNOWN or isinstance(item, Number) else item


@objects("random.Random")
def draw_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A number drawn from a generator object."""
    if name in ("choice", "choices", "sample"):
        return drawn_item(machine, arguments)
    return drawn(machine) if name in DRAWS else UNKNOWN


@function("numpy.")
def array(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """NumPy refuses tensors on the device: nothing is read. Given a rank, it may load a part of the data."""
    machine.hand_over(arguments)
    return NUMBER if dotted.rpartition(".")[2] in ("mean", "sum", "sqrt", "log", "exp", "ceil", "prod") else UNKNOWN


@function("logging.getLogger", "accelerate.logging.get_logger", "transformers.utils.logging.get_logger")
def logger(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A logger; without a name, the root's."""
    return Logger() if arguments.positional or arguments.keywords else machine.root_logger


@function(*(f"logging.{name}" for name in (*LEVELS, "log")))
def log_to_root(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A message to the root logger."""
    return logger_method(machine, machine.root_logger, dotted.rpartition(".")[2], arguments) or NONE


@function("logging.basicConfig")
def configure(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Importing torch_xla leaves a root handler, so that this call does nothing unless it is forced."""
    forced = arguments.keywords.get("force")
    if isinstance(forced, Number) and forced.const:
        machine.root_logger.level = level_of(arguments.keywords.get("level"))
    return NONE


@methods_of(Logger)
def logger_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Logging formats its arguments if the level is on."""
    assert isinstance(receiver, Logger)
    if name == "setLevel":
        receiver.level = level_of(arguments.get(0, "level"))
        return NONE
    if name == "isEnabledFor":
        return NUMBER
    offset = 1 if name == "log" else 0
    level = level_of(arguments.get(0)) if name == "log" else LEVELS.get(name)
    if level is None:
        return NONE
    machine.read_each(arguments, How.FORMAT, f"logging.{name}", first=offset, logger=receiver, level=level)
    return NONE


def level_of(value: Value | None) -> int:
    """A logging level as a number, 0 where it cannot be told."""
    if isinstance(value, Number) and value.const is not None:
        return int(value.const)
    if isinstance(value, Name) and value.dotted.startswith("logging."):
        return LEVEL_NAMES.get(value.dotted.rpartition(".")[2], 0)
    if isinstance(value, Text) and value.const is not None:
        return LEVEL_NAMES.get(value.const.upper(), 0)
    return 0


@function("copy.copy", "copy.deepcopy")
def duplicate(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A copy is another object of the same kind; a deep one has modules of its own."""
    value = arguments.get(0)
    if isinstance(value, Instance):
        return copied(value, arguments.node, 4 if dotted == "copy.deepcopy" else 0)
    return value if value is not None else UNKNOWN


def copied(value: Instance, node: nodes.NodeNG, depth: int) -> Instance:
    """A copy of an object, and of the modules inside it, to a depth."""
    attributes = {
        name: copied(item, node, depth - 1) if depth and isinstance(item, Instance) and item.model else item
        for name, item in value.attributes.items()
    }
    return Instance(value.cls, value.library, attributes, value.place, value.model, value.certain, node)


@function("collections.namedtuple")
def named_tuple(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A class with fields."""
    spec = arguments.get(1, "field_names")
    fields: list[str] = []
    if isinstance(spec, Text) and spec.const is not None:
        fields = spec.const.replace(",", " ").split()
    elif isinstance(spec, Sequence) and spec.items is not None:
        fields = [item.const for item in spec.items if isinstance(item, Text) and item.const is not None]
    return Class(arguments.node, machine.frame, [], {}, fields)


@function("types.SimpleNamespace", "argparse.Namespace")
def namespace(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An object with these attributes."""
    return Instance(None, dotted, {k: v for k, v in arguments.keywords.items() if k != "**"}, node=arguments.node)


@function("dataclasses.field")
def field(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dataclass field's default."""
    default = arguments.keywords.get("default")
    return default if default is not None else Instance(None, "dataclasses.field", dict(arguments.keywords))


@function("dataclasses.replace", "copy.replace")
def replaced(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An object like another one, but for some attributes."""
    value = arguments.get(0)
    if not isinstance(value, Instance):
        return UNKNOWN
    changes = {name: item for name, item in arguments.keywords.items() if name != "**"}
    return replace(value, attributes={**value.attributes, **changes}, node=arguments.node)


@function("functools.partial")
def partial(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function with some arguments bound."""
    inner, *first = arguments.positional or [UNKNOWN]
    if isinstance(inner, Choice):
        node, keywords, unpacked = arguments.node, arguments.keywords, arguments.unpacked
        each = (Arguments(node, [option, *first], keywords, unpacked) for option in inner.options)
        return choose([partial(machine, dotted, given) for given in each])
    if isinstance(inner, Function) and not arguments.unpacked:
        bound = {**inner.defaults, **arguments.keywords}
        return replace(inner, leading=(*inner.leading, *first), defaults=bound)
    if not isinstance(inner, (Function, Class, Instance, Name, Method)) or arguments.unpacked:
        return inner if isinstance(inner, (Function, Class, Instance, Name)) else UNKNOWN
    bounded: dict[str, Value] = {"function": inner, "first": Sequence(first), "rest": Mapping(arguments.keywords)}
    return Instance(None, "functools.partial", bounded)


@objects("functools.partial")
def call_partial(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Call a function with some arguments bound."""
    assert isinstance(receiver, Instance)
    if name != "__call__":
        return None
    first, rest = receiver.attributes["first"], receiver.attributes["rest"]
    assert isinstance(first, Sequence)
    assert isinstance(rest, Mapping)
    return machine.call(
        receiver.attributes["function"],
        Arguments(
            arguments.node,
            [*(first.items or []), *arguments.positional],
            {**rest.entries, **arguments.keywords},
            arguments.unpacked,
        ),
    )


@objects(SINGLE_DISPATCH)
def dispatch(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A tensor goes to what is registered for tensors, else to the first function; where others go is unknown."""
    assert isinstance(receiver, Instance)
    first, second = arguments.get(0), arguments.get(1)
    if name == "register" and second is not None:
        kind = first.dotted if isinstance(first, Name) else "?"
        machine.heap.put(receiver.attributes, kind, second)
    elif name == "__call__" and isinstance(first, Tensor) and "?" not in receiver.attributes:
        return machine.call(receiver.attributes.get("torch.Tensor", receiver.attributes[DEFAULT]), arguments)
    return None


@function("functools.wraps", "functools.lru_cache", "functools.cache", "functools.update_wrapper")
def transparent(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A decorator that leaves the function what it is."""
    return Name("functools.identity")


@function("functools.identity")
def identity(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What it is given."""
    return arguments.get(0) or UNKNOWN


@function("operator.index")
def index(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A tensor used as an index is read."""
    machine.read(arguments.node, arguments.node_of(0), arguments.get(0) or NONE, How.VALUE, "operator.index()")
    return NUMBER


@function("itertools.count")
def endless_count(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Numbers without end."""
    return Stream(NUMBER, counted=True)


@function("statistics.", "pickle.dump", "pickle.dumps", "json.dumps", "json.dump")
def consume(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What asks tensors for their values."""
    for value in arguments.positional[:1]:
        machine.read(arguments.node, arguments.node_of(0), value, How.VALUE, f"{dotted}()", materialises=True)
    return NUMBER if dotted.startswith("statistics.") else TEXT
