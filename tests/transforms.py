"""Ways to write a program differently without changing what it does."""

from __future__ import annotations

import ast
import builtins
import random
import re
from collections import Counter
from collections.abc import Iterator

from astroid import nodes

from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse
from xla_lint.rules.base import Finding

Signature = tuple[str, str, str]
"""What a finding says, wherever it stands: its symbol, the names of the functions around it, its source."""
LAUNCHED = frozenset({"_mp_fn"})
"""Names that a launcher looks for: they mean something."""
FRESH = re.compile(r"zq\d+_[a-z]*")
HEADS = (nodes.For, nodes.While, nodes.If, nodes.With, nodes.Try, nodes.FunctionDef, nodes.ClassDef, nodes.Module)


def findings_of(source: str) -> list[Finding]:
    """The findings of one module, advice included."""
    return check_module(parse(source, "program.py"), Project(), Settings())


def signatures(source: str) -> Counter[Signature]:
    """What the linter says of a program, without regard to where it stands."""
    return Counter((found.rule.symbol, around(found.node), text_of(found.node)) for found in findings_of(source))


def around(node: nodes.NodeNG) -> str:
    names = []
    while node.parent is not None:
        node = node.parent
        if isinstance(node, (nodes.FunctionDef, nodes.ClassDef)):
            names.append(node.name)
    return ".".join(reversed(names))


def text_of(node: nodes.NodeNG) -> str:
    """A node's source in one spelling; of a compound statement, its head."""
    text: str = node.as_string()
    return text.lstrip().partition("\n")[0] if isinstance(node, HEADS) else without_aliases(text)


def without_aliases(text: str) -> str:
    """An import without the aliases that are the name itself."""
    return re.sub(r"\b(\w+) as \1\b", r"\1", text)


def reformatted(source: str, _: random.Random) -> str:
    """Without comments, in Python's own layout."""
    return ast.unparse(ast.parse(source))


def renamed(source: str, rng: random.Random) -> str:
    """With fresh names for variables, parameters, functions and what is imported."""
    tree = ast.parse(source)
    return ast.unparse(ast.fix_missing_locations(Renaming(fresh_names(tree, rng)).visit(tree)))


def restored(signature: Signature, source: str, rng: random.Random) -> Signature:
    """A signature with the names that `renamed` took from a program, given the same randomness."""
    back = {new: old for old, new in fresh_names(ast.parse(source), rng).items()}
    symbol, scope, text = (FRESH.sub(lambda match: back[match[0]], part) for part in signature)
    return symbol, scope, without_aliases(text)


def fresh_names(tree: ast.Module, rng: random.Random) -> dict[str, str]:
    """A new name for each name that means nothing by itself.

    Names of attributes and of keyword arguments do, and whatever some text of the program mentions may.
    """
    kept = set(dir(builtins)) | LAUNCHED
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            kept |= {name for statement in node.body for name in bound_names(statement)}
        elif isinstance(node, ast.keyword) and node.arg:
            kept.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            kept |= set(re.findall(r"\w+", node.value))
        elif isinstance(node, ast.MatchClass):
            kept |= set(node.kwd_attrs)
        elif isinstance(node, ast.Import):
            kept |= {alias.name.split(".")[0] for alias in node.names if not alias.asname and "." in alias.name}
        elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            return {}
        found |= set(names_bound_by(node))
    chosen = sorted(name for name in found - kept if not name.startswith("__"))
    numbers = rng.sample(range(10, 10 + len(chosen)), len(chosen))
    return {name: f"zq{number}_{'w' * (number % 4)}" for name, number in zip(chosen, numbers, strict=True)}


def bound_names(statement: ast.stmt) -> Iterator[str]:
    """What a statement binds where it stands."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield from names_bound_by(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


def names_bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.split(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


class Renaming(ast.NodeTransformer):
    """Gives names their new ones."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("id", "arg", "name", "rest"):
            value = getattr(node, field, None)
            if isinstance(value, str) and not isinstance(node, (ast.alias, ast.keyword)):
                setattr(node, field, self.names.get(value, value))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self.names.get(name, name) for name in node.names]
        if isinstance(node, ast.alias):
            bound = node.asname or node.name
            if bound in self.names:
                node.asname = self.names[bound]
        return super().generic_visit(node)


def padded(source: str, rng: random.Random) -> str:
    """With statements among the others that do nothing."""
    return ast.unparse(Padding(rng).visit(ast.parse(source)))


def wrapped(source: str, rng: random.Random) -> str:
    """With some statements under a test that always holds."""
    return ast.unparse(Wrapping(rng).visit(ast.parse(source)))


class Bodies(ast.NodeTransformer):
    """Writes the statements of each block anew."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, field, [new for old in block for new in self.rewritten(old)])
        return node

    def rewritten(self, statement: ast.stmt) -> list[ast.stmt]:
        raise NotImplementedError


class Padding(Bodies):
    IDLE = ("pass", "if False:\n    print('never')", "while False:\n    print('never')", "assert True", "...")

    def rewritten(self, statement: ast.stmt) -> list[ast.stmt]:
        if self.rng.random() < 0.5 or not may_move(statement):
            return [statement]
        return [statement, *ast.parse(self.rng.choice(self.IDLE)).body]


class Wrapping(Bodies):
    def rewritten(self, statement: ast.stmt) -> list[ast.stmt]:
        if self.rng.random() < 0.7 or not may_move(statement) or isinstance(statement, DEFINING):
            return [statement]
        return [ast.If(ast.Constant(True), [statement], [])]


def turned(source: str, _: random.Random) -> str:
    """With both branches of each test in the other order, under the opposite test."""
    return ast.unparse(ast.fix_missing_locations(Turning().visit(ast.parse(source))))


class Turning(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if not node.orelse or isinstance(node.orelse[0], ast.If) or is_guard(node.test):
            return node
        return ast.If(opposite(node.test), node.orelse, node.body)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return node if is_guard(node.test) else ast.IfExp(opposite(node.test), node.orelse, node.body)


def is_guard(test: ast.expr) -> bool:
    """Whether a test asks what program runs, which only its usual spelling says."""
    return bool({node.id for node in ast.walk(test) if isinstance(node, ast.Name)} & {"__name__", "TYPE_CHECKING"})


def opposite(test: ast.expr) -> ast.expr:
    return (
        test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else ast.UnaryOp(ast.Not(), test)
    )


def exchanged(source: str, _: random.Random) -> str:
    """With neighbouring assignments that have nothing to do with each other in the other order."""
    return ast.unparse(Exchanging().visit(ast.parse(source)))


class Exchanging(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and not isinstance(node, ast.ClassDef):
                for first in range(0, len(block) - 1, 2):
                    if commute(block[first], block[first + 1]):
                        block[first], block[first + 1] = block[first + 1], block[first]
        return node


def commute(a: ast.AST, b: ast.AST) -> bool:
    """Whether two statements give names values that neither needs from the other, by calls of torch at most."""
    if not (is_simple(a) and is_simple(b)):
        return False
    bound = [{n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} for s in (a, b)]
    used = [{n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in (a, b)]
    return not (bound[0] & used[1]) and not (bound[1] & used[0])


def is_simple(statement: ast.AST) -> bool:
    if not isinstance(statement, ast.Assign) or not all(isinstance(target, ast.Name) for target in statement.targets):
        return False
    calls = [ast.unparse(node.func) for node in ast.walk(statement.value) if isinstance(node, ast.Call)]
    inert = (ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return all(call.startswith(("torch.", "nn.")) for call in calls) and not any(
        isinstance(node, inert) for node in ast.walk(statement.value)
    )


DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def may_move(statement: ast.stmt) -> bool:
    """Whether something may stand before a statement, or around it: not before a docstring or a `__future__` import."""
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    return not docstring and not future and not isinstance(statement, (ast.Global, ast.Nonlocal))
