"""Calls: who is called, with which arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Method
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.objects import model_on_device
from xla_lint.program.domain.values import (
    FACT,
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Mapping,
    Name,
    Number,
    Sequence,
    Tensor,
    Text,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.interpreter.names import by_use
from xla_lint.program.library.dispatch import call_library, call_method
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import calling, expression

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


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
    return join_all([machine.call(option, arguments) for option in callee.options if option is not NONE])


@expression(nodes.Call)
def call_expression(machine: Machine, node: nodes.Call) -> Value:
    callee = callee_of(machine, node.func)
    return machine.call(callee, arguments_of(machine, node))


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
        return join_all(method_of_receiver(machine, o, name, node) for o in receiver.options if o is not NONE)
    if isinstance(receiver, Tensor) or receiver is UNKNOWN:
        return Method(receiver, name)
    return machine.attribute(receiver, name, node)


def arguments_of(machine: Machine, node: nodes.Call) -> Arguments:
    """Evaluate a call's arguments."""
    positional: list[Value] = []
    unpacked = False
    for argument in node.args:
        if isinstance(argument, nodes.Starred):
            inner = machine.evaluate(argument.value)
            if isinstance(inner, Sequence) and inner.items is not None:
                positional.extend(inner.items)
            else:
                unpacked = True
                element = machine.iterate(inner, None, argument)
                if isinstance(inner, (Sequence, Tensor)):
                    positional.append(element)
        else:
            positional.append(stated(machine, node, argument, len(positional)))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = stated(machine, node, keyword.value, keyword.arg)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Mapping) and value.element is None:
            keywords.update(value.entries)
        else:
            unpacked = True
            if isinstance(value, Mapping):
                keywords.update(value.entries)
            if tensors := list(tensors_in(value)):
                keywords.setdefault("**", tensors[0])
    return Arguments(node, positional, keywords, unpacked)


def stated(machine: Machine, call: nodes.Call, argument: nodes.NodeNG, slot: int | str | None) -> Value:
    """An argument. A constant decides tests in what is called where other calls give another one.

    Where all calls give the same, it is a setting.
    """
    value = machine.evaluate(argument)
    if type(argument) is not nodes.Const:
        return value
    index = machine.at.frame.index
    if index is None or not index.told_apart(call, slot):
        return value
    return replace(value, fact=True) if isinstance(value, Text) else Number(argument.value, traits=FACT)


def method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value:
    """The result of calling a method of a value that is not of the project."""
    if isinstance(receiver, Choice):
        return join_all(machine.method(o, name, arguments) for o in receiver.options if o is not NONE)
    return call_method(machine, receiver, name, arguments)
