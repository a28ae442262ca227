"""`torch.compile`: what is compiled, for which device, and what the compiler does not trace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.backend import backend_of, compiles_for_device, names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.compilations import LEFT_OUT, Compilation
from xla_lint.program.domain.definitions import Function, Method
from xla_lint.program.domain.events import Compiled, GraphBreak
from xla_lint.program.domain.join import choose
from xla_lint.program.domain.objects import COMPILED_MODEL
from xla_lint.program.domain.values import (
    FACT,
    NONE,
    NUMBER,
    UNKNOWN,
    Choice,
    Instance,
    Name,
    Number,
    Text,
    Value,
    options,
)
from xla_lint.program.library.registry import function, manager, methods

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.library.registry import Body
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

COMPILE = "torch.compile"
COMPILER = "torch.compile.decorator"
"""What `torch.compile(backend=...)` gives without a function: it compiles the one that it is called with."""
COMPILED_METHOD = "torch.compile.method"
"""A method of a library object that was compiled, such as `optimizer.step`."""
DISABLERS = ("torch.compiler.disable", "torch._dynamo.disable", "torch._dynamo.skip")
TRACING = ("torch.compiler.is_compiling", "torch.compiler.is_dynamo_compiling", "torch._dynamo.is_compiling",
           "torch._utils.is_compiling")  # fmt: skip
CONTEXTS = names(Role.CONTEXT)
COMPILERS = names(Role.COMPILER)


@function(COMPILE, "torch.jit.script", "torch.jit.trace")
def compile_(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A compiled function runs its own graphs."""
    value = arguments.get(0, "model")
    if machine.aim.is_native:
        return compile_natively(machine, arguments, value) if dotted == COMPILE else value or UNKNOWN
    if runs_at_the_call(arguments.keywords.get("backend")):
        if isinstance(value, Function):
            value.compiled = True
        elif isinstance(value, Instance):
            return Instance(None, COMPILED_MODEL, place=value.place, model=True, node=arguments.node)
    return value if value is not None else Name("functools.identity")


def runs_at_the_call(backend: Value | None) -> bool:
    """Whether a backend of `torch.compile` runs the graph of a call on the device at once."""
    return isinstance(backend, Text) and compiles_for_device(backend.const or "")


def compile_natively(machine: Machine, arguments: Arguments, value: Value | None) -> Value:
    """What is compiled for the device of a native backend; without a function, what compiles one."""
    if not is_for_device(machine, arguments.keywords.get("backend")):
        return value if value is not None else Name("functools.identity")
    keywords = {name: given for name, given in arguments.keywords.items() if name != "model"}
    compilation = Compilation(arguments.node, keywords, arguments.unpacked)
    if value is None or value is NONE:
        made: dict[str, Value] = dict(keywords)
        return Instance(None, COMPILER, made, node=arguments.node, compilation=compilation)
    return compiled(machine, compilation, value)


def is_for_device(machine: Machine, backend: Value | None) -> bool:
    """Whether the compiler is the one of the program's backend: by its name, or because none is named."""
    if backend is None or backend is NONE:
        return True
    own, compilers = machine.backend, machine.backend.compilers
    return any(
        (isinstance(option, Text) and option.const in compilers)
        or (isinstance(option, Instance) and option.library in COMPILERS and backend_of(option.library) is own)
        for option in options(backend)
    )


@function(*COMPILERS)
def compiler(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A compiler of a backend with settings of its own."""
    return Instance(None, dotted, dict(arguments.keywords), node=arguments.node)


@methods(COMPILER, "__call__")
def compile_given(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The function that a compiler is called with is compiled."""
    value = arguments.get(0)
    if value is None or receiver.compilation is None:
        return None
    return compiled(machine, receiver.compilation, value)


def compiled(machine: Machine, compilation: Compilation, value: Value) -> Value:
    """A value as it is once compiled."""
    if isinstance(value, Choice):
        return choose([compiled(machine, compilation, option) for option in value.options])
    node = compilation.node
    if node is not None:
        machine.emit(Compiled(node, machine.context, compilation, value))
    if isinstance(value, Function) or (isinstance(value, Instance) and value.model):
        return replace(value, compilation=compilation)
    if isinstance(value, Method):
        return Instance(None, COMPILED_METHOD, {"method": value}, node=node, compilation=compilation)
    return value


@methods(COMPILED_METHOD, "__call__")
def call_compiled_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A compiled method is called."""
    with machine.elsewhere(compiled=receiver.compilation):
        return machine.call(receiver.attributes["method"], arguments)


@methods("torch.nn.", "compile")
def compile_in_place(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A model of the project is compiled in place; torch leaves its own layers as they are (torch 2.9.1)."""
    if machine.aim.is_native:
        if is_for_device(machine, arguments.keywords.get("backend")):
            compilation = Compilation(arguments.node, dict(arguments.keywords), arguments.unpacked)
            machine.emit(Compiled(arguments.node, machine.context, compilation, receiver))
            machine.heap.assign(receiver, "compilation", compilation)
    elif receiver.cls is not None and runs_at_the_call(arguments.keywords.get("backend")):
        machine.heap.put(receiver.attributes, COMPILED_IN_PLACE, Number(True))
    return NONE


COMPILED_IN_PLACE = "*compiled"
"""The attribute of a model that a lazy backend's compiler has compiled in place."""


@function(*DISABLERS)
def disable(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What is not traced; without a function, a decorator."""
    value = arguments.get(0, "fn")
    if value is None:
        return Instance(None, COMPILER, node=arguments.node, compilation=LEFT_OUT)
    return replace(value, compilation=LEFT_OUT) if isinstance(value, (Function, Instance)) else value


@function(*TRACING)
def is_tracing(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Whether the code is being traced, which is known where it is known what is compiled."""
    if not machine.aim.is_native:
        return NUMBER
    return Number(machine.at.compiled is not None, traits=FACT)


@function(*CONTEXTS)
def make_context(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A context manager that changes how operations run."""
    return Instance(None, dotted, node=arguments.node)


@manager(*CONTEXTS)
def enter_context(machine: Machine, region: Instance, body: Body, node: nodes.NodeNG) -> None:
    """Compiled code does not enter it: the whole function runs without the compiler."""
    note_break(machine, node, f"with {region.library.rpartition('.')[2]}(...)", "the whole function then runs eagerly")
    body(UNKNOWN)


def note_break(machine: Machine, node: nodes.NodeNG, spelled: str, effect: str = "") -> None:
    """Note what the compiler cannot trace, in code that it traces."""
    if machine.at.compiled is not None:
        machine.emit(GraphBreak(node, machine.context, spelled, effect))


BREAKING = frozenset(
    {"builtins.print", "builtins.input", "builtins.open", "warnings.warn", "pprint.pprint", "logging.log",
     *(f"time.{clock}" for clock in ("time", "perf_counter", "monotonic", "time_ns", "perf_counter_ns", "sleep")),
     *(f"logging.{level}" for level in ("debug", "info", "warning", "error", "critical", "exception"))}
)  # fmt: skip
"""Functions that a compiled function breaks at, whatever they are given (torch 2.9.1)."""
