"""Calls: who is called, with which arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Method
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.longest import LongestRow
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.objects import as_container, model_on_device
from xla_lint.program.domain.values import (
    FACT,
    NO_TENSOR,
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Tensor,
    Text,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.interpreter.assignment import put_item
from xla_lint.program.interpreter.names import by_use, lookup
from xla_lint.program.interpreter.subscripts import subscript
from xla_lint.program.library.dispatch import MODULE, call_library, call_method
from xla_lint.program.library.networks import run_method
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import calling, expression

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


NOTHING = (NONE, NO_TENSOR)
"""Alternatives of a value that have no methods that matter."""


@calling(Name)
def call_name(machine: Machine, callee: Name, arguments: Arguments) -> Value:
    """The result of calling something of a library."""
    return call_library(machine, callee.dotted, arguments)


@calling(Method)
def call_bound(machine: Machine, callee: Method, arguments: Arguments) -> Value:
    """The result of calling a method of a value that is not of the project."""
    return machine.method(callee.receiver, callee.name, arguments)


@calling(Tensor)
def call_tensor(machine: Machine, callee: Tensor, arguments: Arguments) -> Value | None:
    """The result of calling what turns out to be a model."""
    if callee.undecided or (callee.unstructured and not callee.certain):
        return machine.call_instance(model_on_device(callee), arguments)
    return None


@calling(Choice)
def call_choice(machine: Machine, callee: Choice, arguments: Arguments) -> Value:
    """The result of calling any of the alternatives."""
    before, after, results = machine.here.touched, None, []
    callable_options = [option for option in callee.options if option not in NOTHING]
    doubt = machine.at.doubt
    if len(callable_options) > 1:
        machine.at.doubt = len(machine.at.loops)
    for option in callable_options:
        if machine.at.state is None:
            break
        machine.here.touched = before.under_a_test()
        results.append(machine.call(option, arguments))
        if machine.at.state is not None:
            after = machine.here.touched if after is None else after.meet(machine.here.touched)
    machine.at.doubt = doubt
    if after is not None and machine.at.state is not None:
        machine.here.touched = after.after_a_test(before)
    return join_all(results)


@expression(nodes.Call)
def call_expression(machine: Machine, node: nodes.Call) -> Value:
    callee = callee_of(machine, node.func)
    arguments = arguments_of(machine, node, spelled=not isinstance(callee, (Name, Method)))
    owner = owner_of_part(machine, callee, node.func)
    if owner is not None and device_tensors(arguments.positional):
        return run_method(machine, Instance(None, MODULE, place=owner.place, model=True, certain=False), arguments)
    return machine.call(callee, arguments)


def owner_of_part(machine: Machine, callee: Value, function: nodes.NodeNG) -> Instance | None:
    """The module on the device that holds an unknown object which it was given, and now calls; None for others."""
    at = machine.at
    if type(function) is not nodes.Attribute or not (at.in_forward or (at.loops and at.loops[-1].form is Form.HOOK)):
        return None
    part = function.expr if isinstance(callee, Method) and callee.receiver is UNKNOWN else function
    if (part is function and callee is not UNKNOWN) or not isinstance(part, nodes.Attribute):
        return None
    owner = lookup(machine, part.expr.name) if isinstance(part.expr, nodes.Name) else UNKNOWN
    if not isinstance(owner, Instance) or not owner.model or owner.attributes.get(part.attrname) is not UNKNOWN:
        return None
    return owner if owner.place is Location.DEVICE else None


def callee_of(machine: Machine, node: nodes.NodeNG) -> Value:
    if not isinstance(node, nodes.Attribute):
        return machine.evaluate(node)
    receiver = machine.evaluate(node.expr)
    callee = method_of_receiver(machine, receiver, node.attrname, node)
    if callee is UNKNOWN or (isinstance(callee, Method) and callee.receiver is UNKNOWN):
        used = by_use(machine, node)
        if isinstance(used, Instance):
            return used
    return callee


def method_of_receiver(machine: Machine, receiver: Value, name: str, node: nodes.NodeNG) -> Value:
    """The method of a receiver, ready to be called."""
    if isinstance(receiver, Choice):
        known = [o for o in receiver.options if o not in NOTHING]
        return join_all(method_of_receiver(machine, option, name, node) for option in known)
    if isinstance(receiver, (Tensor, LongestRow)) or receiver is UNKNOWN:
        return Method(receiver, name)
    if name == "forward" and isinstance(receiver, Instance) and receiver.model:
        return receiver
    return machine.attribute(receiver, name, node)


def arguments_of(machine: Machine, node: nodes.Call, *, spelled: bool = True) -> Arguments:
    """Evaluate a call's arguments; `spelled`: those that are spelled out decide what runs inside the call."""
    positional: list[Value] = []
    unpacked, rest = False, None
    for argument in node.args:
        if type(argument) is nodes.Starred:
            inner = machine.evaluate(argument.value)
            if isinstance(inner, Sequence) and inner.items is not None:
                positional.extend(inner.items)
            else:
                unpacked = True
                element = machine.iterate(inner, None, argument)
                if isinstance(inner, (Sequence, Tensor)):
                    positional.append(element)
                rest = rest or next(iter(tensors_in(element)), None)
        elif spelled:
            positional.append(stated(machine, node, argument, len(positional)))
        else:
            positional.append(machine.evaluate(argument))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        given = keyword.value
        value = stated(machine, node, given, keyword.arg) if spelled else machine.evaluate(given)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Mapping) and value.element is None:
            keywords.update(value.entries)
        else:
            unpacked = True
            if isinstance(value, Mapping):
                keywords.update(value.entries)
            if tensors := list(tensors_in(value)):
                rest = tensors[0]
                keywords.setdefault("**", rest)
    return Arguments(node, positional, keywords, unpacked, rest)


def stated(machine: Machine, call: nodes.Call, argument: nodes.NodeNG, slot: int | str | None) -> Value:
    """An argument. What is spelled out decides tests in what is called: a truth, and a text where calls differ in it.

    A text that all calls give is a setting.
    """
    value = machine.evaluate(argument)
    if type(argument) is not nodes.Const:
        return value
    if isinstance(argument.value, bool):
        return Number(argument.value, traits=FACT)
    index = machine.at.frame.index
    apart = isinstance(value, Text) and index is not None and index.told_apart(call, slot)
    return replace(value, fact=True) if apart and isinstance(value, Text) else value


def method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value:
    """The result of calling a method of a value that is not of the project."""
    if isinstance(receiver, Choice):
        return join_all(machine.method(o, name, arguments) for o in receiver.options if o not in NOTHING)
    items = as_container(receiver)
    if name == "__getitem__" and isinstance(items, (Mapping, Sequence)) and arguments.positional:
        return subscript(machine, arguments.node, items, arguments.positional[0], arguments.node)
    if name == "__setitem__" and isinstance(items, (Mapping, Sequence)) and len(arguments.positional) == 2:
        put_item(machine, items, *arguments.positional)
        return NONE
    return call_method(machine, receiver, name, arguments)
