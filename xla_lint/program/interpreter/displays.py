"""Lists, tuples, sets, dicts and formatted strings as they are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.objects import key_of
from xla_lint.program.domain.values import TEXT, UNKNOWN, Mapping, Number, Sequence, Text, Trait
from xla_lint.program.interpreter.subscripts import slice_
from xla_lint.program.machine.meanings import expression

if TYPE_CHECKING:
    from typing import Any

    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


def elements_of(machine: Machine, elements: list[Any]) -> tuple[list[Value] | None, Value]:
    items: list[Value] | None = []
    unstructured: list[Value] = []
    for element in elements:
        if isinstance(element, nodes.Starred):
            inner = machine.evaluate(element.value)
            if isinstance(inner, Sequence) and inner.items is not None and items is not None:
                items.extend(inner.items)
            else:
                items = None
            unstructured.append(machine.iterate(inner, None, element))
        else:
            value = machine.evaluate(element)
            unstructured.append(value)
            if items is not None:
                items.append(value)
    return items, join_all(unstructured)


@expression(nodes.List, nodes.Set)
def list_(machine: Machine, node: nodes.List | nodes.Set) -> Value:
    items, element = elements_of(machine, node.elts)
    return Sequence(items, element, made=frozenset(machine.loops))


@expression(nodes.Tuple)
def tuple_(machine: Machine, node: nodes.Tuple) -> Value:
    items: list[Any] = node.elts
    if any(isinstance(item, nodes.Slice) for item in items):
        parts = [slice_(machine, i) if isinstance(i, nodes.Slice) else machine.evaluate(i) for i in items]
        return Sequence(parts, UNKNOWN, True)
    known, element = elements_of(machine, items)
    return Sequence(known, element, True)


@expression(nodes.Dict)
def dict_(machine: Machine, node: nodes.Dict) -> Value:
    entries: dict[str, Value] = {}
    others: list[Value] = []
    pairs: list[tuple[Any, Any]] = list(node.items)
    for key_node, value_node in pairs:
        if isinstance(key_node, nodes.DictUnpack):
            inner = machine.evaluate(value_node)
            if isinstance(inner, Mapping):
                entries.update(inner.entries)
                others.extend([] if inner.element is None else [inner.element])
            else:
                others.append(UNKNOWN)
            continue
        key, value = key_of(machine.evaluate(key_node)), machine.evaluate(value_node)
        if key is not None:
            entries[key] = value
        else:
            others.append(value)
    return Mapping(entries, join_all(others) if others else None)


@expression(nodes.JoinedStr)
def joined_string(machine: Machine, node: nodes.JoinedStr) -> Value:
    ranked = False
    for part in node.values:
        if isinstance(part, nodes.FormattedValue):
            value = machine.evaluate(part.value)
            if part.format_spec is not None:
                machine.evaluate(part.format_spec)
            machine.read(node, part.value, value, How.FORMAT, "f-string")
            ranked |= isinstance(value, Number) and Trait.RANK in value.traits
    first = node.values[0] if node.values else None
    opening = first.value if isinstance(first, nodes.Const) and isinstance(first.value, str) else ""
    return Text(ranked=ranked, opening=opening) if ranked or opening else TEXT
