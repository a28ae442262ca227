"""What constants an expression of one file may stand for, told from its source without running it.

Names, attributes and dictionaries are followed by name alone, through assignments, defaults of parameters and of
command-line options, returns, conditions, and dicts given as `**`. Branches that a constant of the file rules out
count for nothing. It serves questions such as "may this argument be that text?", for which order does not matter.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Constant = str | int | float | bool | None
Guards = tuple[tuple[ast.expr, bool], ...]
"""The tests around a piece of code, and which branch of each it is in."""
OPTIONS = frozenset({"add_argument", "add_option", "option", "argument"})
"""The functions, by their last name, that declare an option of the command line, with a `default`."""
FLAGS = "DEFINE_"
"""How those of absl begin, whose second argument is the default."""
FALLBACKS = {
    "get": 1, "getenv": 1, "pop": 1, "setdefault": 1, "getattr": 2, "Option": 0, "Argument": 0, "Field": 0, "field": 0,
}  # fmt: skip
"""Functions that give one of their arguments where nothing else is said, and which one."""
UNCHANGED = frozenset({"lower", "strip", "copy", "str", "dict", "deepcopy"})
"""Functions that give what they are given, as far as it matters here."""
DECIDABLE = (ast.Constant, ast.Name, ast.UnaryOp, ast.Compare)
"""The tests that a constant of the file may decide."""
RECEIVERS = ("self", "cls")
SILENT = frozenset({"ctx", "op", "ops"})
"""The fields of nodes that hold no code."""


class Placed(NamedTuple):
    """A node, and what is around it."""

    node: ast.AST
    guards: Guards


class Constants:
    """One walk over a tree, and the questions that it can answer."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes: list[tuple[ast.AST, Guards]] = []
        """All nodes but operators and the like, each with the tests around it."""
        self._bound: dict[str, list[Placed]] = defaultdict(list)
        """What is assigned to names."""
        self._held: dict[str, list[Placed]] = defaultdict(list)
        """What is kept under a name: as an attribute, an item, an option or a keyword."""
        self._given: dict[str, list[Placed]] = defaultdict(list)
        """What functions return."""
        self._set_later: dict[str, list[tuple[str, ast.expr]]] = defaultdict(list)
        """By the name of a dict: the items that are set one by one."""
        self._updated: dict[str, list[ast.expr]] = defaultdict(list)
        """By the name of a dict: the dicts that it is updated with."""
        self._offered: dict[str, set[str]] = defaultdict(set)
        """By option of the command line that has no default: the words that it may be given."""
        self._stores: dict[str, int] = defaultdict(int)
        self._functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = defaultdict(list)
        self._walk(tree)
        for node, guards in self.nodes:
            note = NOTES.get(type(node))
            if note is not None:
                note(self, node, guards)

    # The walk.

    def _walk(self, tree: ast.Module) -> None:
        pending: list[tuple[ast.AST, Guards, str]] = [(tree, (), "")]
        while pending:
            node, guards, around = pending.pop()
            self.nodes.append((node, guards))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._functions[around if node.name == "__init__" else node.name].append(node)
                around = node.name
            elif isinstance(node, ast.ClassDef):
                around = node.name
            elif isinstance(node, ast.Return) and node.value is not None:
                self._given[around].append(Placed(node.value, guards))
            elif isinstance(node, (ast.If, ast.IfExp)):
                pending += ((child, inner, around) for child, inner in _branches(node, guards))
                continue
            for name in node._fields:
                part = None if name in SILENT else getattr(node, name, None)
                if type(part) is list:
                    pending += [(child, guards, around) for child in part if isinstance(child, ast.AST)]
                elif isinstance(part, ast.AST):
                    pending.append((part, guards, around))

    def _note_assignment(self, node: ast.Assign, guards: Guards) -> None:
        for target in node.targets:
            self._assign(target, node.value, guards)

    def _note_binding(self, node: ast.AnnAssign | ast.NamedExpr, guards: Guards) -> None:
        if node.value is not None:
            self._assign(node.target, node.value, guards)

    def _note_name(self, node: ast.Name, _: Guards) -> None:
        if isinstance(node.ctx, ast.Store):
            self._stores[node.id] += 1

    def _note_dict(self, node: ast.Dict, guards: Guards) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                self._held[key.value].append(Placed(value, guards))

    def _note_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, guards: Guards) -> None:
        for name, default in _defaults(node.args):
            self._bound[name].append(Placed(default, guards))
        for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            self._stores[parameter.arg] += 2

    def _assign(self, target: ast.expr, value: ast.expr, guards: Guards) -> None:
        if isinstance(target, ast.Name):
            self._bound[target.id].append(Placed(value, guards))
            self._held[target.id].append(Placed(value, guards))
        elif isinstance(target, ast.Attribute):
            self._held[target.attr].append(Placed(value, guards))
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            self._held[str(target.slice.value)].append(Placed(value, guards))
            if isinstance(target.value, ast.Name) and self.may_run(guards):
                self._set_later[target.value.id].append((str(target.slice.value), value))
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for part, inner in zip(target.elts, value.elts, strict=True):
                self._assign(part, inner, guards)

    def _note_call(self, call: ast.Call, guards: Guards) -> None:
        name = last_name(call.func)
        if name in OPTIONS or name.startswith(FLAGS):
            self._note_option(call, guards, positional=name.startswith(FLAGS))
            return
        for keyword in call.keywords:
            if keyword.arg is not None:
                self._held[keyword.arg].append(Placed(keyword.value, guards))
        if name == "update" and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            updated = call.func.value.id
            self._set_later[updated] += ((k.arg, k.value) for k in call.keywords if k.arg is not None)
            self._updated[updated] += call.args[:1]
        for function in self._functions.get(name, ()):
            parameters = [*function.args.posonlyargs, *function.args.args]
            if parameters and parameters[0].arg in RECEIVERS:
                parameters = parameters[1:]
            for parameter, value in zip(parameters, call.args, strict=False):
                self._bound[parameter.arg].append(Placed(value, guards))
            for keyword in call.keywords:
                if keyword.arg is not None:
                    self._bound[keyword.arg].append(Placed(keyword.value, guards))

    def _note_option(self, call: ast.Call, guards: Guards, *, positional: bool) -> None:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        names = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        default = given.get("default", call.args[1] if positional and len(call.args) > 1 else None)
        stated = given.get("dest")
        if isinstance(stated, ast.Constant):
            names = [str(stated.value)]
        for name in [names[0]] if positional and names else names:
            option = name.lstrip("-").replace("-", "_")
            if default is None:
                self._offered[option] |= offered_by(given)
            else:
                self._held[option].append(Placed(default, guards))
                self._bound[option].append(Placed(default, guards))

    # What an expression may be.

    def offered(self, expression: ast.AST) -> set[str]:
        """The words that the user may give for an expression, where it is an option that has no default."""
        found: set[str] = set()
        for source, _ in self._chains(expression):
            key = source.slice if isinstance(source, ast.Subscript) else None
            name = str(key.value) if isinstance(key, ast.Constant) else last_name(source)
            found |= self._offered.get(name, set())
        return found

    def possible(self, expression: ast.AST) -> set[Constant]:
        """The constants that an expression may stand for, as far as they can be told."""
        return {
            node.value
            for node in self.sources(expression)
            if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, (str, int, float)))
        }

    def sources(self, expression: ast.AST) -> Iterator[ast.AST]:
        """The expressions that one may stand for: constants, displays, calls of libraries, names of nothing here."""
        return (part for part, links in self._chains(expression) if not links)

    def _chains(self, expression: ast.AST) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
        """An expression and all that it may stand for, each with what that stands for, one link on."""
        pending, seen = [expression], {expression}
        while pending:
            part = pending.pop()
            links = list(self._followed(part))
            yield part, links
            pending += (link for link in links if link not in seen)
            seen.update(links)

    def _followed(self, expression: ast.AST) -> Iterator[ast.AST]:
        """What an expression stands for, one link on."""
        if isinstance(expression, ast.IfExp):
            truth = self.truth(expression.test)
            yield from [expression.body] if truth is not False else []
            yield from [expression.orelse] if truth is not True else []
        elif isinstance(expression, ast.BoolOp):
            yield from expression.values
        elif isinstance(expression, ast.NamedExpr):
            yield expression.value
        elif isinstance(expression, ast.Name):
            yield from self._open(self._bound.get(expression.id, ()))
        elif isinstance(expression, ast.Attribute):
            named = expression.value if expression.attr == "value" else None
            yield from [named] if named is not None else self._open(self._held.get(expression.attr, ()))
        elif isinstance(expression, ast.Subscript):
            yield from self._items(expression)
        elif isinstance(expression, ast.Call):
            yield from self._called(expression)

    def _called(self, call: ast.Call) -> Iterator[ast.AST]:
        name = last_name(call.func)
        if name in self._given:
            yield from self._open(self._given[name])
        elif name in FALLBACKS:
            place = FALLBACKS[name]
            yield from call.args[place : place + 1]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == "default")
            if name in ("get", "pop") and call.args and isinstance(call.args[0], ast.Constant):
                yield from self._open(self._held.get(str(call.args[0].value), ()))
        elif name in UNCHANGED:
            yield from call.args[:1] or ([call.func.value] if isinstance(call.func, ast.Attribute) else [])

    def _items(self, expression: ast.Subscript) -> Iterator[ast.AST]:
        key = expression.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield from self._open(self._held.get(key.value, ()))
        elif isinstance(expression.value, ast.Name):
            for place in self._bound.get(expression.value.id, ()):
                if isinstance(place.node, ast.Dict):
                    yield from place.node.values

    def keywords(self, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        """The arguments of a call by their names, those of dicts given as `**` with them."""
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword.value
            else:
                yield from self.entries(keyword.value)

    def entries(self, expression: ast.AST) -> Iterator[tuple[str, ast.expr]]:
        """What a dict may hold by its texts, items that are set later with them."""
        pending, seen = [expression], {expression}
        while pending:
            part = pending.pop()
            found = [part, *self.sources(part)]
            names = [node.id for node in found if isinstance(node, ast.Name)]
            yield from ((key, value) for name in names for key, value in self._set_later.get(name, ()))
            links: list[ast.AST] = [other for name in names for other in self._updated.get(name, ())]
            for source in found:
                if isinstance(source, ast.Dict):
                    for key, value in zip(source.keys, source.values, strict=True):
                        if key is None:
                            links.append(value)
                        elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                            yield key.value, value
                elif isinstance(source, ast.Call):
                    yield from ((keyword.arg, keyword.value) for keyword in source.keywords if keyword.arg is not None)
                    links += [*source.args[:1], *(k.value for k in source.keywords if k.arg is None)]
                elif isinstance(source, ast.BinOp) and isinstance(source.op, ast.BitOr):
                    links += [source.left, source.right]
            pending += (link for link in links if link not in seen)
            seen.update(links)

    # Tests.

    def may_run(self, guards: Guards) -> bool:
        """Whether no constant of the file rules out code under these tests."""
        return all(self.truth(test) is not (not side) for test, side in guards)

    def truth(self, test: ast.expr) -> bool | None:
        """Whether a test always or never holds by the constants of the file, None where that cannot be told."""
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            truth = self.truth(test.operand)
            return None if truth is None else not truth
        if isinstance(test, ast.Name):
            fixed = self._fixed(test)
            return bool(fixed.value) if fixed is not None else None
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
            left, right = self._fixed(test.left), self._fixed(test.comparators[0])
            if left is not None and right is not None:
                return (left.value == right.value) is isinstance(test.ops[0], ast.Eq)
        return None

    def _fixed(self, expression: ast.expr) -> ast.Constant | None:
        """The constant that a name stands for wherever it is used: it is bound once."""
        if isinstance(expression, ast.Constant):
            return expression
        if isinstance(expression, ast.Name) and self._stores.get(expression.id) == 1:
            bound = self._bound.get(expression.id, [])
            if len(bound) == 1 and isinstance(bound[0].node, ast.Constant):
                return bound[0].node
        return None

    def _open(self, places: Iterable[Placed]) -> Iterator[ast.AST]:
        return (place.node for place in places if self.may_run(place.guards))


def last_name(node: ast.AST) -> str:
    """The name by which a function or an object is called: `fit` for `self.trainer.fit`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


NOTES: dict[type[ast.AST], Callable[[Constants, Any, Guards], None]] = {
    ast.Assign: Constants._note_assignment,
    **dict.fromkeys((ast.AnnAssign, ast.NamedExpr), Constants._note_binding),
    ast.Name: Constants._note_name,
    ast.Dict: Constants._note_dict,
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), Constants._note_function),
    ast.Call: Constants._note_call,
}
"""What is noted of a node of each kind."""


def _branches(node: ast.If | ast.IfExp, guards: Guards) -> Iterator[tuple[ast.AST, Guards]]:
    decidable = isinstance(node.test, DECIDABLE)
    yield node.test, guards
    for branch, side in ((node.body, True), (node.orelse, False)):
        inner = (*guards, (node.test, side)) if decidable else guards
        yield from ((child, inner) for child in (branch if isinstance(branch, list) else [branch]))


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    yield from ((p.arg, d) for p, d in zip(positional[first:], arguments.defaults, strict=True))
    yield from ((p.arg, d) for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None)


def offered_by(option: dict[str | None, ast.expr]) -> set[str]:
    """The words that an option takes by its `choices`; by its help, where it has to be given and has none."""
    choices, required, told = (option.get(name) for name in ("choices", "required", "help"))
    if isinstance(choices, (ast.List, ast.Tuple, ast.Set)):
        return {str(choice.value) for choice in choices.elts if isinstance(choice, ast.Constant)}
    if not (isinstance(required, ast.Constant) and required.value is True and isinstance(told, ast.Constant)):
        return set()
    return set(re.findall(r"\w+", str(told.value)))
