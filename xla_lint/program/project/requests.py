"""Whether a file asks a framework for XLA, or asks whether it runs there: Lightning, Accelerate, Trainer, environment.

What only leads to an error on XLA is no request, and neither is what a constant of the file rules out.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.program.backend.frameworks import (
    AVAILABILITY,
    CHOSEN,
    COMMAND_LINES,
    COUNTED,
    DEVICE_TYPES,
    GPU_MARKS,
    KIND_ATTRIBUTES,
    KIND_VARIABLES,
    KINDS,
    LIGHTNING,
    MENTIONS,
    NESTED,
    NOTEBOOK_LAUNCHER,
    OFF,
    POSITIONAL,
    REPLICAS_OF_A_TPU,
    SWITCHED,
    SWITCHED_INSIDE,
    TORCH,
    TRAINERS,
    VARIABLES,
    XLA_PARTS,
)
from xla_lint.program.project.lines import LINE, lines_of
from xla_lint.program.project.scope import is_of_framework
from xla_lint.program.syntax.constants import Constants, last_name
from xla_lint.program.syntax.depth import room_to_recurse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENVIRONMENT = "environ"
USES_TRAINER = re.compile(LINE + rb"[ \t]*(?:from|import)[ \t][^\n#]*\b(?:" + "|".join(TRAINERS).encode() + rb")\b")
"""A source that imports a package whose arguments may ask for XLA."""
TORCH_MENTIONS = tuple(text.encode() for text in (*VARIABLES, *CHOSEN["backend"]))
"""Without such a package, a source that holds none of these asks for nothing: variables, and compilers."""
NAMES = tuple(
    name.encode()
    for names in (
        VARIABLES,
        [NOTEBOOK_LAUNCHER],
        AVAILABILITY,
        COUNTED,
        SWITCHED,
        NESTED,
        KINDS,
        KIND_ATTRIBUTES,
        KIND_VARIABLES,
        LIGHTNING,
    )
    for name in names
)
VALUES = frozenset[str]().union(DEVICE_TYPES, *CHOSEN.values())
QUOTED = re.compile(
    rb"[\"'][^\"'\n]*\b(?:" + b"|".join(re.escape(value.encode()) for value in sorted(VALUES)) + b")", re.IGNORECASE
)
"""A text that is or begins with a value by which XLA is asked for. With such a package, a source that holds neither
one of these nor one of `NAMES` asks for nothing."""


class Requests(NamedTuple):
    """What a file says of XLA to a framework."""

    asks: bool = False
    """Whether it asks for XLA, by an argument, an object or the environment."""
    tests: bool = False
    """Whether it has code of its own for XLA, behind a question whether it runs there."""


def requests_in(source: bytes, path: Path | None = None) -> Requests:
    """What the bytes of a file say of XLA to frameworks; nothing where they are no Python.

    Code for XLA in a test, or in a framework itself, shows no program to run there.
    """
    if not may_request(source):
        return Requests()
    found = _requests(source)
    if found.tests and path is not None and (is_test(path) or is_of_framework(path)):
        return found._replace(tests=False)
    return found


def may_request(source: bytes) -> bool:
    """A cheap test: False only where nothing can be requested."""
    if any(mark in source for mark in MENTIONS) and USES_TRAINER.search(lines_of(source)):
        return any(name in source for name in NAMES) or QUOTED.search(source) is not None
    return any(mark in source for mark in TORCH_MENTIONS) and any(package.encode() in source for package in TORCH)


def is_test(path: Path) -> bool:
    """Whether a file is a test of the project."""
    return path.name.startswith("test_") or "tests" in path.parts or "test" in path.parts


@lru_cache(maxsize=512)
def _requests(source: bytes) -> Requests:
    tree = parsed(source)
    return Requests() if tree is None else _Reader(tree, source).requests()


def parsed(source: bytes) -> ast.Module | None:
    """The tree of a file's bytes, None where they are no Python."""
    try:
        with room_to_recurse(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Reader:
    """Looks through one file."""

    def __init__(self, tree: ast.Module, source: bytes) -> None:
        self.code = Constants(tree)
        self.names: dict[str, str] = {}
        """What imported names stand for."""
        self.packages: set[str] = set()
        self.for_gpus = any(mark.encode() in source for mark in GPU_MARKS)
        self.refused: set[ast.AST] = set()
        """What stands in tests of which the branch for XLA ends in an error."""
        for node, _ in self.code.nodes:
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            self.packages.update(alias.name.partition(".")[0] for alias in node.names)
            self.names.update((alias.asname, alias.name) for alias in node.names if alias.asname)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            self.packages.add(node.module.partition(".")[0])
            self.names.update((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, (ast.If, ast.Assert)):
            self.refused.update(_refused(node))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self.refused.update(inner for item in node.decorator_list for inner in ast.walk(item))

    def requests(self) -> Requests:
        """What the file says."""
        if self.packages.isdisjoint(TORCH):
            return Requests()
        asks = tests = False
        lightning, trains = not self.packages.isdisjoint(LIGHTNING), not self.packages.isdisjoint(TRAINERS)
        for node, guards in self.code.nodes:
            if isinstance(node, (ast.Call, ast.Assign, ast.AnnAssign)):
                found = self._asks(node, lightning, trains)
                asks |= found and self.code.may_run(guards)
            elif lightning and not asks:
                asks = self._of_lightning(node)
            if trains and not tests and node not in self.refused:
                tests = self._tests(node) and self.code.may_run(guards)
        return Requests(asks, tests)

    # Arguments, objects and the environment.

    def _asks(self, node: ast.Call | ast.Assign | ast.AnnAssign, lightning: bool, trains: bool) -> bool:
        if any(self._is_set(name, value) for name, value in _variables(node, self.code)):
            return True
        if not isinstance(node, ast.Call):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            kept = (last_name(target) for target in targets)
            return trains and node.value is not None and any(self._is_chosen(n, node.value) for n in kept if n in FIXED)
        name = last_name(node.func)
        if name == "compile" and "torch" in self.packages:
            return any(self._is_chosen(key, value) for key, value in self.code.keywords(node) if key == "backend")
        if not trains or name in DECLARING:
            return False
        if name == NOTEBOOK_LAUNCHER and not self.for_gpus:
            given = dict(self.code.keywords(node)).get("num_processes")
            if given is not None and REPLICAS_OF_A_TPU in self.code.possible(given):
                return True
        arguments = list(self.code.keywords(node))
        if name in POSITIONAL and node.args:
            arguments.append((POSITIONAL[name], node.args[0]))
        return any(self._is_asked(key, value, lightning) for key, value in arguments)

    def _is_asked(self, key: str, value: ast.expr, lightning: bool) -> bool:
        if key in NESTED or key in COMMAND_LINES:
            inner = self.code.entries(value) if key in NESTED else _options(value, self.code)
            return any(self._is_chosen(name.rpartition(".")[2], part, inside=key in NESTED) for name, part in inner)
        if key in OF_LIGHTNING and not lightning:
            return False
        return self._is_chosen(key, value) or self._is_offered(key, value)

    def _is_offered(self, key: str, value: ast.expr) -> bool:
        """Whether an argument is an option that the user must give, or may, and that takes XLA among others."""
        starts = CHOSEN.get(key, ())
        return bool(starts) and any(word.lower().startswith(starts) for word in self.code.offered(value))

    def _is_chosen(self, key: str, value: ast.expr, *, inside: bool = False) -> bool:
        """Whether an argument of that name, or an item inside one, asks for XLA by its value."""
        if key in COUNTED or key in SWITCHED or (inside and key in SWITCHED_INSIDE):
            displays = (isinstance(source, (ast.List, ast.Tuple, ast.Dict)) for source in self.code.sources(value))
            return any(self.code.possible(value)) or any(displays)
        starts = CHOSEN.get(key, ())
        texts = frozenset[str]().union(*map(_texts, self.code.sources(value))) if starts else ()
        return any(word.lower().startswith(starts) for text in texts for word in text.split())

    def _is_set(self, name: str, value: ast.expr) -> bool:
        """Whether a variable of the environment is one of torch_xla's, and is not switched off."""
        if not name.startswith(VARIABLES):
            return False
        given = self.code.possible(value)
        return not given or any(str(constant).lower() not in OFF for constant in given)

    def _of_lightning(self, node: ast.AST) -> bool:
        """Whether a class or a module of Lightning that is for XLA is imported or named."""
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(LIGHTNING):
            parts = [*node.module.split("."), *(alias.name for alias in node.names)]
            return any(part in name.lower() for name in parts for part in XLA_PARTS)
        if isinstance(node, ast.Import):
            named = (alias.name for alias in node.names if alias.name.startswith(LIGHTNING))
            return any(part in name.lower() for name in named for part in XLA_PARTS)
        if isinstance(node, ast.Attribute) and node.attr[:3].lower() in XLA_PARTS and node.attr[:1].isupper():
            return self._origin(node).startswith(LIGHTNING)
        return False

    # Questions.

    def _tests(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            if last_name(node.func) == "startswith" and isinstance(node.func, ast.Attribute) and node.args:
                return self._is_type(node.func.value) and _texts(node.args[0]) <= DEVICE_TYPES
            name = last_name(node.func)
            return name in AVAILABILITY and self._origin(node.func).partition(".")[0] in TORCH
        if isinstance(node, ast.Attribute):
            return node.attr in KINDS.get(last_name(node.value), ())
        if not isinstance(node, ast.Compare):
            return False
        sides = [node.left, *node.comparators]
        texts = frozenset[str]().union(*map(_texts, sides))
        if any(texts & KIND_ATTRIBUTES.get(last_name(side), frozenset()) for side in sides):
            return True
        if any(texts & KIND_VARIABLES.get(name, frozenset()) for side in sides for name in self._looked_up(side)):
            return True
        return bool(texts & DEVICE_TYPES) and any(map(self._is_type, sides))

    def _looked_up(self, node: ast.expr) -> Iterator[str]:
        """The variables of the environment that an expression may be the value of."""
        for source in (node, *self.code.sources(node)):
            key: ast.expr | None = None
            if isinstance(source, ast.Subscript) and last_name(source.value) == ENVIRONMENT:
                key = source.slice
            elif isinstance(source, ast.Call) and source.args and isinstance(source.func, ast.Attribute):
                getter = (last_name(source.func.value), source.func.attr)
                key = source.args[0] if getter in ((ENVIRONMENT, "get"), ("os", "getenv")) else None
            yield from (name for name in self.code.possible(key) if isinstance(name, str)) if key is not None else ()

    def _origin(self, node: ast.expr) -> str:
        """What the name was imported as that an expression begins with; empty where it begins with none."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return self.names.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    def _is_type(self, node: ast.AST) -> bool:
        """Whether an expression is the type of a device, or a device as text."""
        for source in (node, *self.code.sources(node)):
            if isinstance(source, ast.Attribute) and source.attr == "type":
                return "device" in last_name(source.value)
            if isinstance(source, ast.Call) and last_name(source.func) == "str" and source.args:
                return "device" in last_name(source.args[0])
        return False


FIXED = COUNTED | SWITCHED | {"optim", "debug", "torch_compile_backend"}
"""The options of which a class or an object of arguments may set a default."""
OF_LIGHTNING = frozenset({"accelerator", "strategy", "profiler", "tpu_cores", "num_tpu_cores"})
DECLARING = frozenset({"add_argument", "add_option", "option", "argument"})


def _texts(node: ast.AST) -> frozenset[str]:
    """The texts that a display or a constant holds."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else [node]
    return frozenset(part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))


def _variables(node: ast.AST, code: Constants) -> Iterator[tuple[str, ast.expr]]:
    """The variables of the environment that a statement or a call sets."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and last_name(target.value) == ENVIRONMENT:
                yield from ((name, node.value) for name in code.possible(target.slice) if isinstance(name, str))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name, on = node.func.attr, last_name(node.func.value)
        if name == "update" and on == ENVIRONMENT:
            yield from code.keywords(node)
            for argument in node.args[:1]:
                yield from code.entries(argument)
        elif (name == "setdefault" and on == ENVIRONMENT) or (name == "putenv" and on == "os"):
            for argument in node.args[:1]:
                yield from ((str(text), node.args[1]) for text in code.possible(argument) if len(node.args) > 1)


def _options(value: ast.expr, code: Constants) -> Iterator[tuple[str, ast.expr]]:
    """The options of a command line that is written out as a list: `["--optim", "sgd"]`, `["--optim=sgd"]`."""
    for source in code.sources(value):
        if not isinstance(source, (ast.List, ast.Tuple)):
            continue
        for item, following in zip(source.elts, [*source.elts[1:], None], strict=False):
            texts = _texts(item)
            for text in texts:
                option, assigned, given = text.removeprefix("--").partition("=")
                if text.startswith("--") and assigned:
                    yield option, ast.Constant(given)
                elif text.startswith("--") and following is not None:
                    yield option, following


def _refused(node: ast.If | ast.Assert) -> Iterator[ast.AST]:
    """What stands in a test, where what happens on XLA is only an error."""
    if isinstance(node, ast.Assert):
        refused = _is_negative(node.test)
    else:
        on_xla = node.orelse if _is_negative(node.test) else node.body
        refused = bool(on_xla) and _fails(on_xla[-1])
    if refused:
        yield from ast.walk(node.test)


def _is_negative(test: ast.expr) -> bool:
    """Whether a test holds where the program does not run on XLA."""
    if isinstance(test, ast.BoolOp):
        return all(map(_is_negative, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return not _is_negative(test.operand)
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.NotEq, ast.NotIn))


def _fails(statement: ast.stmt) -> bool:
    """Whether a statement ends the program with an error, or a test case by skipping it."""
    if isinstance(statement, ast.Raise):
        return True
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and last_name(statement.value.func) in ("exit", "_exit", "error", "skip", "skipTest")
    )
