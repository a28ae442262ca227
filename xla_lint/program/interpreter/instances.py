"""Making an object of a class of the project, and calling one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.compilations import LEFT_OUT, traced
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.events import CompiledCall
from xla_lint.program.domain.join import join
from xla_lint.program.domain.objects import (
    COMPILED_MODEL,
    CONTAINERS,
    ITEMS,
    bound_to,
    is_model,
    library_base,
    lineage,
    member_of,
)
from xla_lint.program.domain.values import UNKNOWN, Instance, Location, Name, as_setting
from xla_lint.program.library.compilers import COMPILED_IN_PLACE
from xla_lint.program.library.dispatch import call_method
from xla_lint.program.library.hooks import has_hooks
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import calling

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


WRAPPERS = frozenset({"collections.UserDict", "collections.UserList"})
"""Classes whose objects keep their items in an attribute."""


@calling(Class)
def instantiate(machine: Machine, cls: Class, arguments: Arguments) -> Value:
    model = is_model(cls)
    instance = Instance(cls, library_base(cls), model=model, node=arguments.node, around=frozenset(machine.loops))
    if model:
        instance.place, instance.certain = machine.device.place, machine.device.certain
    instance.optional = any(constraint.condition is Condition.SETTING for constraint in machine.here.path_condition)
    init = member_of(cls, "__init__")
    own = isinstance(init, Function) or cls.fields is not None
    container = CONTAINERS.get(instance.library)
    if container is not None:
        hold_items(machine, instance, container, Arguments(arguments.node, []) if own else arguments)
    if cls.fields is not None:
        fill_fields(machine, instance, cls.fields, arguments)
        after = member_of(cls, "__post_init__")
        if isinstance(after, Function):
            machine.call_function(bound_to(after, instance), Arguments(arguments.node, []))
    if isinstance(init, Function):
        machine.call_function(bound_to(init, instance), arguments)
    elif cls.fields is None and instance.library and container is None:
        machine.hand_over(arguments)
        call_method(machine, instance, "__init__", arguments)
    if model or has_hooks(cls):
        note_built(machine, cls, instance)
    return instance


def hold_items(machine: Machine, instance: Instance, container: str, arguments: Arguments) -> None:
    """Let an object of a class that derives from a container hold items; a `UserDict` says under which name."""
    items = machine.call(Name(container), arguments)
    instance.attributes[ITEMS] = items
    if instance.library in WRAPPERS:
        instance.attributes["data"] = items


def note_built(machine: Machine, cls: Class, instance: Instance) -> None:
    """Note an object on which a framework calls methods, all of a class as one, or the newest model of a class."""
    together = has_hooks(cls)
    for base in lineage(cls):
        if isinstance(base, Class):
            known = machine.heap.built.get(base.node) if together else None
            machine.heap.built[base.node] = instance if known is None else join(known, instance)


def fill_fields(machine: Machine, instance: Instance, fields: list[str], arguments: Arguments) -> None:
    given = {**dict(zip(fields, arguments.positional, strict=False)), **arguments.keywords}
    for name in fields:
        value = given.get(name)
        if value is None:
            value = member_of(instance.cls, name) if instance.cls is not None else None
            if value is None or (isinstance(value, Instance) and value.library == "dataclasses.field"):
                factory = value.attributes.get("default_factory") if isinstance(value, Instance) else None
                value = machine.call(factory, Arguments(arguments.node, [])) if factory is not None else UNKNOWN
        instance.attributes[name] = as_setting(value)


@calling(Instance)
def call_instance(machine: Machine, instance: Instance, arguments: Arguments) -> Value:
    """The result of calling an object: a model's `forward`, or `__call__`."""
    replaced = instance.attributes.get("forward")
    compilation = instance.compilation or (replaced.compilation if isinstance(replaced, Instance) else None)
    if compilation is None or not instance.model or machine.at.compiled is not None:
        return call_uncompiled(machine, instance, arguments)
    if compilation is not LEFT_OUT:
        forward = member_of(instance.cls, "forward")
        node = forward.node if isinstance(forward, Function) else None
        names = [parameter.name for parameter in node.args.args or []][1:] if node is not None else []
        given = dict(zip(names, arguments.positional, strict=False)) | arguments.keywords
        machine.emit(CompiledCall(arguments.node, machine.context, compilation, node, given))
    with machine.elsewhere(compiled=traced(compilation)):
        return call_uncompiled(machine, instance, arguments)


def call_uncompiled(machine: Machine, instance: Instance, arguments: Arguments) -> Value:
    """The result of calling an object, be it in code that is traced or not."""
    if not instance.model:
        method = member_of(instance.cls, "__call__")
        if isinstance(method, Function):
            return machine.call_function(bound_to(method, instance), arguments)
        return call_method(machine, instance, "__call__", arguments)
    forward = instance.attributes.get("forward") or member_of(instance.cls, "forward")
    if not isinstance(forward, Function):
        return call_method(machine, instance, "__call__", arguments)
    tensors = arguments.tensors()
    if not machine.at.in_forward and Location.DEVICE in (instance.place, *(tensor.place for tensor in tensors)):
        machine.forward(arguments.node, instance)
    bound = forward if forward.receiver is not None else bound_to(forward, instance)
    with machine.elsewhere(in_forward=True):
        result = machine.call_function(bound, arguments)
    if COMPILED_IN_PLACE in instance.attributes and not machine.at.in_forward and machine.at.state is not None:
        machine.barrier(arguments.node, COMPILED_MODEL, silent=True)
    if result is UNKNOWN:
        return call_method(machine, instance, "__call__", arguments)
    return result
