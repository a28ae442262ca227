"""Tests on the release in use, decided for the release that the program must run on.

`torch_xla.__version__`, `importlib.metadata.version("torch_xla")`, `hasattr(xm, ...)`, and names that are None where
an import failed: each is followed through assignments and helper functions of the module. torch counts as torch_xla,
whose releases have its numbers.
"""

from __future__ import annotations

import enum
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.knowledge import api
from xla_lint.program.backend import ASSUMED, has_releases
from xla_lint.program.syntax.imports import assigned_value, bindings_of, dotted_name, imports_of, is_none_constant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xla_lint.knowledge.releases import Release

PACKAGES = frozenset(spelled for name in ("torch", ASSUMED.name) for spelled in (name, name.replace("_", "-")))
VERSIONS = frozenset(f"{name}.{attribute}" for name in ("torch", ASSUMED.name)
                     for attribute in ("__version__", "version.__version__"))  # fmt: skip
VERSION_FUNCTIONS = frozenset({"importlib.metadata.version", "importlib_metadata.version"})
DISTRIBUTIONS = frozenset({"pkg_resources.get_distribution"})
PARSERS = frozenset({"Version", "parse", "parse_version", "LooseVersion", "StrictVersion", "TorchVersion"})
COMPARERS = frozenset({"is_torch_version", f"is_{ASSUMED.name}_version"})
UTILITIES = ("accelerate.", "diffusers.", "transformers.", "optimum.")
PIECES = 3
"""The numbers of a release, as far as tests look: major, minor, patch."""
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
DEEPEST = 12


class Answer(enum.Enum):
    """What a test tells."""

    YES = True
    NO = False
    UNDECIDED = "it asks for the release, and cannot be decided"
    UNRELATED = "it asks for something else"

    def negated(self) -> Answer:
        """The answer of `not test`."""
        return {Answer.YES: Answer.NO, Answer.NO: Answer.YES}.get(self, self)


@dataclass(frozen=True, slots=True)
class Running:
    """The release in use, or its first `length` numbers."""

    length: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One number of the release in use: 0 is the major, 1 the minor one."""

    index: int


TOLD = (Running, Part)


class VersionTests:
    """Decides tests for one target release."""

    def __init__(self, target: Release) -> None:
        self.target = target

    def decide(self, test: nodes.NodeNG, depth: int = 0) -> Answer:
        """Whether a test holds on the target."""
        if depth > DEEPEST:
            return Answer.UNRELATED
        if isinstance(test, nodes.UnaryOp) and test.op == "not":
            return self.decide(test.operand, depth + 1).negated()
        if isinstance(test, nodes.BoolOp):
            return self._boolean(test, depth)
        if isinstance(test, nodes.Compare):
            return self._compare(test, depth)
        if isinstance(test, nodes.Call):
            return self._call(test, depth)
        if isinstance(test, nodes.Name):
            return self._name(test, depth)
        return Answer.UNDECIDED if self._asks(test, depth) else Answer.UNRELATED

    def attempt(self, block: nodes.Try) -> Answer:
        """Whether the imports of a `try` block succeed on the target."""
        answers = []
        for statement in block.body:
            if isinstance(statement, nodes.ImportFrom) and not statement.level:
                answers += [self._exists(f"{statement.modname}.{name}") for name, _ in statement.names]
            elif isinstance(statement, nodes.Import):
                answers += [self._exists(name) for name, _ in statement.names]
        answers = [answer for answer in answers if answer is not Answer.UNRELATED]
        if not answers:
            return Answer.UNRELATED
        for answer in (Answer.NO, Answer.UNDECIDED):
            if answer in answers:
                return answer
        return Answer.YES

    def _exists(self, dotted: str) -> Answer:
        if not has_releases(dotted) or dotted == ASSUMED.name:
            return Answer.UNRELATED
        known = api.exists(dotted, self.target)
        return Answer.UNDECIDED if known is None else Answer(known)

    def _boolean(self, test: nodes.BoolOp, depth: int) -> Answer:
        answers = [self.decide(operand, depth + 1) for operand in test.values]
        if test.op == "or":
            answers = [answer.negated() for answer in answers]
        result = next(
            (answer for answer in (Answer.NO, Answer.UNDECIDED, Answer.UNRELATED) if answer in answers), Answer.YES
        )
        return result.negated() if test.op == "or" else result

    def _compare(self, test: nodes.Compare, depth: int) -> Answer:
        left = test.left
        result = Answer.YES
        for op, right in test.ops:
            answer = self._pair(op, left, right, depth)
            if answer is not Answer.YES:
                result = answer if result is Answer.YES or answer is Answer.NO else result
            left = right
        return result

    def _pair(self, op: str, left: nodes.NodeNG, right: nodes.NodeNG, depth: int) -> Answer:
        if op in ("is", "is not", "==", "!=") and is_none_constant(right):
            present = self._present(left, depth)
            return present.negated() if op in ("is", "==") else present
        first, second = self._value(left, depth + 1), self._value(right, depth + 1)
        if isinstance(first, Running) and op in COMPARISONS:
            return self._against(op, first, second)
        if isinstance(second, Running) and op in COMPARISONS:
            swapped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
            return self._against(swapped, second, first)
        if isinstance(first, Part) and op in COMPARISONS:
            return self._part_against(op, first, second)
        asks = any(isinstance(side, TOLD) or self._asks(node, depth) for side, node in ((first, left), (second, right)))
        return Answer.UNDECIDED if asks else Answer.UNRELATED

    def _against(self, op: str, running: Running, other: object) -> Answer:
        """Compare the release in use with one that the source states; its patch number is unknown."""
        stated = numbers(other)
        if stated is None:
            return Answer.UNDECIDED
        mine: tuple[int, ...] = tuple(self.target)
        if running.length is not None and running.length <= len(mine):
            return Answer(COMPARISONS[op](mine[: running.length], stated))
        if len(stated) < len(mine):
            stated = (*stated, *(0,) * (len(mine) - len(stated)))
        if stated[:2] != mine:
            return Answer(COMPARISONS[op](mine, stated[:2]))
        if op in (">=", "<") and not any(stated[2:]):
            return Answer(op == ">=")
        return Answer.UNDECIDED

    def _part_against(self, op: str, part: Part, other: object) -> Answer:
        stated = numbers(other)
        if stated is None or len(stated) != 1:
            return Answer.UNDECIDED
        return Answer(COMPARISONS[op](self.target[part.index], stated[0]))

    def _present(self, node: nodes.NodeNG, depth: int) -> Answer:
        """Whether a name is bound to what an import gives, and not to the None that stands in for it."""
        if isinstance(node, nodes.Call) and dotted_name(node.func) == "importlib.util.find_spec":
            text = node.args[0] if node.args else None
            return (
                self._exists(text.value)
                if isinstance(text, nodes.Const) and isinstance(text.value, str)
                else Answer.UNRELATED
            )
        if not isinstance(node, nodes.Name):
            return Answer.UNDECIDED if self._asks(node, depth) else Answer.UNRELATED
        imports = imports_of(node)
        if not imports or len(imports) == len(bindings_of(node)):
            return Answer.UNRELATED
        return self._exists(imports[0][1])

    def _call(self, call: nodes.Call, depth: int) -> Answer:
        function = dotted_name(call.func) or ""
        last = function.rpartition(".")[2]
        values = [self._value(argument, depth + 1) for argument in call.args]
        if isinstance(call.func, nodes.Name) and call.func.name in ("hasattr", "getattr") and len(call.args) >= 2:
            owner = dotted_name(call.args[0]) or ""
            if has_releases(owner):
                return self._exists(f"{owner}.{values[1]}") if isinstance(values[1], str) else Answer.UNDECIDED
            return Answer.UNRELATED
        if function.startswith(UTILITIES):
            if last in COMPARERS and len(values) == 2 and values[0] in COMPARISONS:
                return self._against(str(values[0]), Running(), values[1])
            if last == "compare_versions" and len(values) == 3 and values[0] in PACKAGES and values[1] in COMPARISONS:
                return self._against(str(values[1]), Running(), values[2])
        inner = self._returned(call)
        if inner is not None:
            return self.decide(inner, depth + 1)
        if last == "bool" or (isinstance(call.func, nodes.Name) and call.func.name == "bool"):
            return self.decide(call.args[0], depth + 1) if call.args else Answer.UNRELATED
        return Answer.UNDECIDED if self._asks(call, depth) else Answer.UNRELATED

    def _name(self, node: nodes.Name, depth: int) -> Answer:
        present = self._present(node, depth)
        if present is not Answer.UNRELATED:
            return present
        bindings = bindings_of(node)
        values = [assigned_value(binding) for binding in bindings]
        if len(values) == 1 and values[0] is not None:
            return self.decide(values[0], depth + 1)
        if len(values) == 2:
            return self._flag(bindings, values)
        return Answer.UNRELATED

    def _flag(self, bindings: Sequence[nodes.NodeNG], values: list[nodes.NodeNG | None]) -> Answer:
        """A flag that is set in a `try` block, and set otherwise in its handler."""
        for binding, value, other in zip(bindings, values, reversed(values), strict=True):
            block = binding.parent.parent if binding.parent is not None else None
            if not (isinstance(block, nodes.Try) and isinstance(value, nodes.Const) and isinstance(other, nodes.Const)):
                continue
            answer = self.attempt(block)
            if answer is Answer.YES:
                return Answer(bool(value.value))
            return Answer(bool(other.value)) if answer is Answer.NO else answer
        return Answer.UNRELATED

    def _returned(self, call: nodes.Call) -> nodes.NodeNG | None:
        """What a function of the module without parameters returns, where that is all it does."""
        if not isinstance(call.func, nodes.Name) or call.args or call.keywords:
            return None
        bindings = bindings_of(call.func)
        if len(bindings) != 1 or not isinstance(bindings[0], nodes.FunctionDef):
            return None
        last = bindings[0].body[-1]
        return last.value if isinstance(last, nodes.Return) and len(bindings[0].body) == 1 else None

    def _value(self, node: object, depth: int) -> object:
        """A constant, a `Running` release, or None for everything else."""
        if node is None or depth > DEEPEST:
            return None
        if isinstance(node, nodes.Const):
            constant: object = node.value
            return constant
        if isinstance(node, (nodes.Tuple, nodes.List)):
            items = [self._value(item, depth + 1) for item in node.elts]
            if items and items == [Part(index) for index in range(len(items))]:
                return Running(len(items))
            return tuple(items) if all(isinstance(item, (int, str)) for item in items) else None
        if isinstance(node, nodes.Name):
            return self._value_of_name(node, depth)
        if isinstance(node, nodes.Attribute):
            return self._value_of_attribute(node, depth)
        if isinstance(node, nodes.Subscript):
            return self._value_of_item(node, depth)
        if isinstance(node, nodes.Call):
            return self._value_of_call(node, depth)
        if isinstance(node, (nodes.GeneratorExp, nodes.ListComp)):
            return self._value(node.generators[0].iter, depth + 1) if len(node.generators) == 1 else None
        return None

    def _value_of_name(self, node: nodes.Name, depth: int) -> object:
        if dotted_name(node) in VERSIONS:
            return Running()
        bindings = bindings_of(node)
        if len(bindings) != 1:
            return None
        target = bindings[0].parent
        if isinstance(target, nodes.Tuple) and isinstance(target.parent, nodes.Assign):
            position = target.elts.index(bindings[0])
            unpacked = self._value(target.parent.value, depth + 1)
            return Part(position) if isinstance(unpacked, Running) and position < len(self.target) else None
        return self._value(assigned_value(bindings[0]), depth + 1)

    def _value_of_attribute(self, node: nodes.Attribute, depth: int) -> object:
        if dotted_name(node) in VERSIONS:
            return Running()
        owner = self._value(node.expr, depth + 1)
        if isinstance(owner, Running):
            if node.attrname in ("major", "minor"):
                return Part(0 if node.attrname == "major" else 1)
            return owner if node.attrname in ("release", "base_version", "public", "version") else None
        return owner if node.attrname == "version" and self._is_distribution(node.expr) else None

    def _is_distribution(self, node: nodes.NodeNG) -> bool:
        return isinstance(node, nodes.Call) and dotted_name(node.func) in DISTRIBUTIONS

    def _value_of_item(self, node: nodes.Subscript, depth: int) -> object:
        owner = self._value(node.value, depth + 1)
        if not isinstance(owner, Running):
            return None
        if isinstance(node.slice, nodes.Slice):
            end = self._value(node.slice.upper, depth + 1)
            return Running(end) if node.slice.lower is None and isinstance(end, int) and 0 < end <= PIECES else None
        index = self._value(node.slice, depth + 1)
        if self._is_split(node.value):
            return owner
        return Part(index) if isinstance(index, int) and 0 <= index < len(self.target) else None

    def _is_split(self, node: nodes.NodeNG) -> bool:
        """True for `version.split("+")`, whose first item is the version without its local part."""
        if not (isinstance(node, nodes.Call) and isinstance(node.func, nodes.Attribute) and node.args):
            return False
        mark = node.args[0]
        return node.func.attrname in ("split", "partition") and isinstance(mark, nodes.Const) and mark.value != "."

    def _value_of_call(self, node: nodes.Call, depth: int) -> object:
        function = dotted_name(node.func) or (node.func.name if isinstance(node.func, nodes.Name) else "")
        first = node.args[0] if node.args else None
        if function in VERSION_FUNCTIONS | DISTRIBUTIONS:
            return Running() if self._value(first, depth + 1) in PACKAGES else None
        last = function.rpartition(".")[2]
        if last in PARSERS or function in ("tuple", "list", "int", "str"):
            value = self._value(first, depth + 1)
            return int(value) if function == "int" and isinstance(value, str) and value.isdigit() else value
        if function == "map" and len(node.args) == 2:
            return self._value(node.args[1], depth + 1)
        if isinstance(node.func, nodes.Attribute) and node.func.attrname in ("split", "partition", "strip"):
            owner = self._value(node.func.expr, depth + 1)
            return owner if isinstance(owner, Running) else None
        inner = self._returned(node)
        return self._value(inner, depth + 1) if inner is not None else None

    def _asks(self, node: nodes.NodeNG, depth: int) -> bool:
        """Whether an expression asks for the release, or for a name of torch_xla, anywhere in it."""
        if depth > DEEPEST:
            return False
        pending = [node]
        while pending:
            item = pending.pop()
            if isinstance(item, (nodes.Name, nodes.Attribute)) and isinstance(self._value(item, depth + 1), TOLD):
                return True
            if isinstance(item, nodes.Call):
                if isinstance(self._value(item, depth + 1), TOLD):
                    return True
                if item is not node and self._call(item, depth + 1) is not Answer.UNRELATED:
                    return True
            pending.extend(item.get_children())
        return False


def numbers(value: object) -> tuple[int, ...] | None:
    """The numbers of a release that the source states as a text, a number or a tuple; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        value = str(value)
    if isinstance(value, tuple):
        value = ".".join(str(item) for item in value)
    if not isinstance(value, str):
        return None
    match = re.match(r"v?(\d+(?:\.\d+)*)", value)
    return tuple(int(item) for item in match[1].split(".")) if match else None
