"""Definitions of functions and classes, their decorators, and names of other scopes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.definitions import Class, Function, Method
from xla_lint.program.domain.objects import DEFAULT, NAMED_TUPLE, SINGLE_DISPATCH, is_dispatcher
from xla_lint.program.domain.ranks import limits_to_one
from xla_lint.program.domain.values import UNKNOWN, Instance, Name
from xla_lint.program.interpreter.statements import run_definitions
from xla_lint.program.library.compilers import COMPILE, COMPILER, DISABLERS
from xla_lint.program.library.torchmetrics import keep_no_history
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import expression, statement

if TYPE_CHECKING:
    from typing import Any

    from xla_lint.program.domain.state import Frame
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


DATACLASSES = frozenset({"dataclasses.dataclass", "attr.s", "attrs.define", "attr.dataclass"})


@expression(nodes.Lambda)
def lambda_(machine: Machine, node: nodes.Lambda) -> Value:
    suspend(machine)
    return Function(node, machine.at.frame, defaults=defaults_of(machine, node))


@statement(nodes.FunctionDef, nodes.AsyncFunctionDef)
def function_definition(machine: Machine, node: nodes.FunctionDef) -> None:
    suspend(machine)
    value: Value = Function(
        node, machine.at.frame, owner=machine.at.frame.defining, defaults=defaults_of(machine, node)
    )
    if node.decorators is not None:
        for decorator in reversed(node.decorators.nodes):
            value = decorate(machine, value, decorator)
    machine.here.env[node.name] = value


@statement(nodes.ClassDef)
def class_definition(machine: Machine, node: nodes.ClassDef) -> None:
    base_nodes: list[Any] = list(node.bases)
    bases = [machine.evaluate(base) for base in base_nodes]
    cls = Class(node, machine.at.frame, bases, {})
    frame = machine.at.frame
    before, outer = machine.here.env, frame.defining
    suspend(machine)
    machine.here.env = dict(before)
    frame.defining = cls
    names = set(before)
    run_definitions(machine, node.body)
    frame.defining = outer
    if machine.at.state is None:
        return
    env = machine.here.env
    cls.members = {
        name: as_own(value, cls) for name, value in env.items() if name not in names or before[name] is not value
    }
    machine.here.env = before
    complete_class(machine, cls, node)
    before[node.name] = cls


def as_own(value: Value, cls: Class) -> Value:
    """A member of a class: a function that a call in its body made is a method like those that are written there."""
    if isinstance(value, Function) and value.owner is None and value.frame.function is not None:
        return replace(value, owner=cls)
    return value


def defaults_of(machine: Machine, node: nodes.FunctionDef | nodes.Lambda) -> dict[str, Value]:
    """The values of a function's parameter defaults, by parameter."""
    arguments = node.args
    found: dict[str, Value] = {}
    positional = [*(arguments.posonlyargs or []), *(arguments.args or [])]
    given = arguments.defaults or []
    for parameter, default in zip(positional[len(positional) - len(given) :], given, strict=False):
        found[parameter.name] = machine.evaluate(default)
    for parameter, given_default in zip(arguments.kwonlyargs or [], arguments.kw_defaults or [], strict=False):
        if given_default is not None:
            found[parameter.name] = machine.evaluate(given_default)
    return found


def suspend(machine: Machine) -> None:
    """Let other frames see this frame's variables as they are now."""
    if machine.at.state is not None:
        machine.at.frame.env = machine.at.state.env


MARKS = {
    "torch.no_grad": "no_grad",
    "torch.inference_mode": "no_grad",
    **dict.fromkeys(names(Role.COMPILE), "compiled"),
    "contextlib.contextmanager": "manager",
    "contextlib.asynccontextmanager": "manager",
    "builtins.property": "getter",
    "functools.cached_property": "getter",
    "builtins.staticmethod": "static",
    "builtins.classmethod": "bound_class",
}
"""The decorators that only change what a function is: each with the field of `Function` that says so."""
INFERENCE_MODE = "torch.inference_mode"
PARTIAL = "functools.partial"
AUTOCAST = frozenset({"torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast"})


def decorate(machine: Machine, value: Value, node: nodes.NodeNG) -> Value:
    """What a decorator makes of a function."""
    decorator = machine.evaluate(node.func if isinstance(node, nodes.Call) else node)
    dotted = decorator.dotted if isinstance(decorator, Name) else ""
    if isinstance(value, Function):
        made = marked(machine, value, decorator, dotted, node)
        if made is not None:
            return made
    if dotted in AUTOCAST:
        machine.call(machine.evaluate(node), Arguments(node, [value]))
    elif isinstance(decorator, Function):
        given: Value = machine.evaluate(node) if isinstance(node, nodes.Call) else decorator
        result = machine.call(given, Arguments(node, [value]))
        return result if isinstance(result, (Function, Instance, Class)) else value
    return value


def marked(machine: Machine, function: Function, decorator: Value, dotted: str, node: nodes.NodeNG) -> Value | None:
    """What a decorator of a known library makes of a function; None for another decorator."""
    if dotted in MARKS or limits_to_one(decorator):
        setattr(function, MARKS.get(dotted, "ranked"), True)
        if dotted == INFERENCE_MODE and function.compilation is None and not is_switched_off(node):
            function.inference = node
        return function
    if machine.aim.is_native and compiles(decorator, node):
        compiler = machine.evaluate(node) if isinstance(node, nodes.Call) else decorator
        return machine.call(compiler, Arguments(node, [function]))
    if dotted == SINGLE_DISPATCH:
        return Instance(None, dotted, {DEFAULT: function}, node=node)
    if dotted == "functools.singledispatchmethod":
        return UNKNOWN
    if isinstance(decorator, Method) and is_dispatcher(decorator.receiver):
        given = node.args if isinstance(node, nodes.Call) else (function.node.args.annotations or [])[:1]
        kind = [machine.evaluate(item) for item in given if item is not None]
        machine.call(decorator, Arguments(node, [*kind, function]))
        return function
    return None


def compiles(decorator: Value, node: nodes.NodeNG) -> bool:
    """Whether a decorator may be `torch.compile`, with some arguments bound or not, or keeps it away."""
    if isinstance(decorator, Name):
        bound = isinstance(node, nodes.Call) and decorator.dotted == PARTIAL
        return bound or decorator.dotted in (COMPILE, *DISABLERS)
    return isinstance(decorator, Instance) and decorator.library in (PARTIAL, COMPILER)


def is_switched_off(node: nodes.NodeNG) -> bool:
    """Whether a mode is given False: `inference_mode(False)`."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, nodes.Call) else []
    return any(isinstance(value, nodes.Const) and value.value is False for value in given)


def complete_class(machine: Machine, cls: Class, node: nodes.ClassDef) -> None:
    """Find the fields of a dataclass or named tuple, and the methods that a library runs without gradients."""
    keep_no_history(cls)
    decorators = node.decorators.nodes if node.decorators is not None else []
    names = [machine.evaluate(d.func if isinstance(d, nodes.Call) else d) for d in decorators]
    record = any(isinstance(n, Name) and n.dotted in DATACLASSES for n in names)
    tuple_like = any(isinstance(b, Name) and b.dotted == NAMED_TUPLE for b in cls.bases)
    inherited = [b.fields for b in cls.bases if isinstance(b, Class) and b.fields]
    if record or tuple_like or inherited:
        own = [
            s.target.name
            for s in node.body
            if isinstance(s, nodes.AnnAssign) and isinstance(s.target, nodes.AssignName)
        ]
        cls.fields = [*(inherited[0] if inherited else []), *own]


@statement(nodes.Global)
def global_(machine: Machine, node: nodes.Global) -> None:
    for name in node.names:
        machine.at.frame.outside[name] = module_of_frame(machine)


@statement(nodes.Nonlocal)
def nonlocal_(machine: Machine, node: nodes.Nonlocal) -> None:
    for name in node.names:
        frame = machine.at.frame.outer
        while frame is not None and name not in frame.env:
            frame = frame.outer
        if frame is not None:
            machine.at.frame.outside[name] = frame


def module_of_frame(machine: Machine) -> Frame:
    """The module frame around the running one."""
    frame = machine.at.frame
    while frame.outer is not None:
        frame = frame.outer
    return frame
