"""Constants, names and attributes that are read, and expressions that only pass a value on."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import package_of
from xla_lint.program.domain.being import narrowed
from xla_lint.program.domain.definitions import Method
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance, Name, Number, Text
from xla_lint.program.interpreter.names import by_use, lookup, note_name
from xla_lint.program.machine.meanings import expression
from xla_lint.program.syntax.uses import MODEL_METHODS

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


UNSTRUCTURED = frozenset({"torch.nn.Module", "torch.compile", "transformers.PreTrainedModel", "torch.nn.Sequential"})


MODULE_METHODS = MODEL_METHODS | {"forward", "to", "zero_grad", "apply", "generate", "dtype", "name_or_path"}


@expression(nodes.Const)
def constant(machine: Machine, node: nodes.Const) -> Value:
    return literal(node.value)


@lru_cache(maxsize=4096, typed=True)
def literal(value: object) -> Value:
    """The value of a constant of Python; equal ones are one object."""
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, (int, float)):
        return Number(value)
    return NONE if value is None else UNKNOWN


@expression(nodes.Name)
def name(machine: Machine, node: nodes.Name) -> Value:
    value = lookup(machine, node.name)
    if machine.aim.is_moving and isinstance(value, Name) and package_of(value.dotted) is not None:
        note_name(machine, node, value.dotted)
    return value


@expression(nodes.Attribute)
def attribute_read(machine: Machine, node: nodes.Attribute) -> Value:
    value = machine.attribute(machine.evaluate(node.expr), node.attrname, node)
    if (being := machine.narrowed.get(node)) is not None:
        return narrowed(value, being)
    if value is UNKNOWN:
        return by_use(machine, node)
    if isinstance(value, Method) and isinstance(value.receiver, Instance) and value.receiver.model:
        return part_of(value.receiver, value)
    return value


def part_of(model: Instance, member: Method) -> Value:
    """A member of a model that is not called at once: a method, or a model inside it where its structure is unknown."""
    if model.cls is not None or member.name in MODULE_METHODS or model.library not in UNSTRUCTURED:
        return member
    return Instance(None, "torch.nn.Module", place=model.place, model=True, certain=model.certain)


@expression(nodes.NamedExpr)
def named_expression(machine: Machine, node: nodes.NamedExpr) -> Value:
    value = machine.evaluate(node.value)
    machine.bind(node.target, value)
    return value


@expression(nodes.Await)
def await_(machine: Machine, node: nodes.Await) -> Value:
    return machine.evaluate(node.value)


@expression(nodes.Starred)
def starred(machine: Machine, node: nodes.Starred) -> Value:
    return machine.evaluate(node.value)
