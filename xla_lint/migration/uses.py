"""Where a file uses torch_xla, and what becomes of each use: told from the source, branch by branch taken or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.knowledge.successors import Group, Kind, successor, text_successor, unused
from xla_lint.places import place_of
from xla_lint.program.backend import ASSUMED, package_of
from xla_lint.program.syntax.imports import dotted_name
from xla_lint.program.syntax.spelling import source_of
from xla_lint.program.syntax.unused import unused_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xla_lint.knowledge.successors import Successor
    from xla_lint.program.backend.backend import Backend

JOIN = "torch.distributed.init_process_group"
"""The call in which the name of the device is that of a process group."""


AS_VALUE = "a module is used as a value: look at what is asked of it"
STAR = "a star hides which names are used: import them by name first"


class Answer(NamedTuple):
    """What becomes of something."""

    name: str
    """What it stands for: a canonical dotted name, or a text."""
    group: Group | None
    """How hard it is; None where nothing is known, so that somebody has to look."""
    advice: str
    """What to do about it."""


@dataclass(frozen=True, slots=True)
class Use:
    """One place that must change, or be thought about."""

    line: int
    column: int
    """Both count from 1, the column in characters."""
    written: str
    """The source of it, in one line."""
    name: str
    group: Group | None
    advice: str
    """These three as in `Answer`."""


def uses_in(module: nodes.Module, backend: Backend, lines: Sequence[str]) -> list[Use]:
    """The uses of torch_xla in a module that moves to a backend, in the order of its lines, which are given too.

    Imports are no uses of their own but for those that name nothing: a star, what nothing uses, and a package that is
    built on torch_xla.
    """
    found = [placed(node, lines, answer) for node, answer in _uses(module, backend)]
    return sorted(found, key=lambda use: (use.line, use.column))


def placed(node: nodes.NodeNG, lines: Sequence[str], answer: Answer) -> Use:
    """A use where it stands."""
    place = place_of(node, lines)
    return Use(place.line, place.column, source_of(node), *answer)


def _uses(module: nodes.Module, backend: Backend) -> Iterator[tuple[nodes.NodeNG, Answer]]:
    for node in module.nodes_of_class((nodes.Name, nodes.Attribute, nodes.Const, nodes.ImportFrom, nodes.Import)):
        answer = _answer(node, backend)
        if answer is not None:
            yield node, answer


def _answer(node: nodes.NodeNG, backend: Backend) -> Answer | None:
    if isinstance(node, nodes.Const):
        return _of_text(node, backend)
    if isinstance(node, nodes.Import):
        return next(filter(None, (_of_package(name) for name, _ in node.names)), _of_unused(node, backend))
    if isinstance(node, nodes.ImportFrom):
        return _of_star(node) or _of_package(node.modname or "") or _of_unused(node, backend)
    dotted = None if _goes_on(node) else dotted_name(node)
    if dotted is None or package_of(dotted) is None:
        return None
    answer = successor(dotted, backend.name)
    return Answer(dotted, None, AS_VALUE) if answer is None else _classified(dotted, answer)


def _goes_on(node: nodes.NodeNG) -> bool:
    """Whether a name is only the beginning of a longer one."""
    parent = node.parent
    return isinstance(parent, nodes.Attribute) and parent.expr is node


def _of_text(node: nodes.Const, backend: Backend) -> Answer | None:
    text = node.value
    if not isinstance(text, str):
        return None
    if text.startswith(backend.ignores_variables) and text.isupper():
        return Answer(text, Group.GONE, f"drop it: {backend.project} does not read it")
    call = node.parent.parent if isinstance(node.parent, nodes.Keyword) else node.parent
    joins = isinstance(call, nodes.Call) and dotted_name(call.func) == JOIN
    kinds = (Kind.PROCESS_GROUP, Kind.INIT_METHOD) if joins else (Kind.DEVICE, Kind.COMPILER, Kind.INIT_METHOD)
    answers = (text_successor(kind, text, backend.name) for kind in kinds)
    answer = next(filter(None, answers), None)
    return None if answer is None else _classified(text, answer)


def _of_star(node: nodes.ImportFrom) -> Answer | None:
    name = "" if node.level else (node.modname or "")
    hides = package_of(name) is not None and any(imported == "*" for imported, _ in node.names)
    return Answer(name, None, STAR) if hides else None


def _of_unused(node: nodes.Import | nodes.ImportFrom, backend: Backend) -> Answer | None:
    name = next(unused_names(node, ASSUMED.name), None)
    return None if name is None else _classified(name, unused(name, backend.name))


def _of_package(name: str) -> Answer | None:
    package = name.partition(".")[0]
    if package not in ASSUMED.packages or package_of(name) is not None:
        return None
    return Answer(name, None, f"{package} is built on {ASSUMED.name}: see what its makers say of a successor")


def _classified(name: str, answer: Successor) -> Answer:
    if answer.group is not Group.THOUGHT:
        return Answer(name, answer.group, answer.advice)
    if answer.becomes is None:
        return Answer(name, None if answer.name.endswith(".") else answer.group, answer.note)
    return Answer(name, answer.group, answer.becomes + (f" ({answer.note})" if answer.note else ""))
