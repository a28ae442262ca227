"""What one walk over a module's tree tells: its imports, how names are used in each scope, what yields and loops."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.uses import Use, Uses, note_call

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAVES = (nodes.Name, nodes.Const, nodes.AssignName, nodes.Pass, nodes.DelName, nodes.Break, nodes.Continue)
SCOPES = (nodes.FunctionDef, nodes.Lambda, nodes.ClassDef)


class Index:
    """The facts of one module that no order of execution changes."""

    def __init__(self, module: nodes.Module) -> None:
        self.imported: set[str] = set()
        """The dotted names that it imports, at any depth of nesting, relative imports left out."""
        self.mentioned: set[str] = set()
        """Every name that it uses."""
        self.attributes: set[str] = set()
        """Every attribute that it uses."""
        self.generators: set[nodes.NodeNG] = set()
        """The functions whose own body yields."""
        self.looping: set[nodes.NodeNG] = set()
        """The functions that hold a loop, in themselves or in a function inside."""
        self.flags: set[str] = set()
        """The names and attributes that a test asks to know whether the program runs on XLA."""
        self.asks_for_xla = False
        """True where a call asks for `accelerator="tpu"` or `strategy="xla"`."""
        self._bound: dict[str, set[str]] = {}
        self._aliases: list[tuple[str, str]] = []
        self._named: dict[str, str] = {}
        """What each imported name stands for."""
        self._calls: dict[nodes.NodeNG, list[nodes.Call]] = {}
        self._own: dict[nodes.NodeNG, Uses] = {}
        self._inner: dict[nodes.NodeNG, list[nodes.NodeNG]] = {}
        self._counted: dict[nodes.NodeNG, set[str]] = {}
        self._uses: dict[nodes.NodeNG, Uses] = {}
        self._given: dict[tuple[str, int | str | None], set[str | bool]] | None = None
        """By function and argument: the constants that calls spell out."""
        self._walk(module)

    def _walk(self, module: nodes.Module) -> None:
        pending: list[tuple[nodes.NodeNG, nodes.NodeNG]] = [(module, module)]
        while pending:
            node, scope = pending.pop()
            if isinstance(node, nodes.Name):
                self.mentioned.add(node.name)
                continue
            if isinstance(node, LEAVES):
                continue
            if isinstance(node, nodes.Call):
                self._calls.setdefault(scope, []).append(node)
                self.asks_for_xla |= asks_for_xla(node)
            elif isinstance(node, nodes.Attribute):
                self.attributes.add(node.attrname)
            elif isinstance(node, SCOPES):
                self._inner.setdefault(scope, []).append(node)
                scope = node
            else:
                self._note(node, scope)
                if isinstance(node, nodes.If) and is_flag_for_xla(node):
                    self.flags.add(node.test.as_string())
            pending.extend((child, scope) for child in node.get_children())

    def _note(self, node: nodes.NodeNG, scope: nodes.NodeNG) -> None:
        if isinstance(node, nodes.ImportFrom):
            if not node.level:
                self.imported.update(f"{node.modname}.{name}" for name, _ in node.names)
                for name, alias in node.names:
                    self._bound.setdefault(alias or name, set()).add((node.modname or "").partition(".")[0])
                    self._named[alias or name] = f"{node.modname}.{name}"
        elif isinstance(node, nodes.Import):
            self.imported.update(name for name, _ in node.names)
            for name, alias in node.names:
                package = name.partition(".")[0]
                self._bound.setdefault(alias or package, set()).add(package)
                self._named[alias or package] = name if alias else package
        elif isinstance(node, (nodes.Yield, nodes.YieldFrom)):
            self.generators.add(scope)
        elif isinstance(node, (nodes.For, nodes.While)):
            self.looping.add(scope)
        elif isinstance(node, (nodes.AugAssign, nodes.Assign)):
            target = node.target if isinstance(node, nodes.AugAssign) else node.targets[0]
            if isinstance(target, nodes.AssignName) and (root := root_name(node.value)) is not None:
                self._aliases.append((target.name, root))
            if isinstance(target, nodes.AssignAttr) and (
                isinstance(node, nodes.AugAssign) or advances(node.value, target.as_string())
            ):
                self._counted.setdefault(scope, set()).add(target.attrname)

    def names_for(self, package: str) -> frozenset[str]:
        """The names that may stand for something of a package: imported from it, or assigned from such a name."""
        names = {name for name, packages in self._bound.items() if package in packages}
        while True:
            more = {name for name, root in self._aliases if root in names} - names
            if not more:
                return frozenset(names)
            names |= more

    def uses(self, scope: nodes.NodeNG) -> Uses:
        """How each name, and each attribute of a name, is used in a scope and in the scopes inside it."""
        found = self._uses.get(scope)
        if found is None:
            found = {}
            for part in self._parts(scope):
                for path, use in self._uses_in(part).items():
                    found.setdefault(path, Use()).add(use)
            self._uses[scope] = found
        return found

    def _uses_in(self, part: nodes.NodeNG) -> Uses:
        found = self._own.get(part)
        if found is None:
            found = self._own[part] = {}
            for call in self._calls.get(part, ()):
                note_call(call, found, self._named)
        return found

    def told_apart(self, call: nodes.Call, slot: int | str | None) -> bool:
        """Whether the calls of a function give different constants, texts or truths, as one of its arguments."""
        if self._given is None:
            self._given = {}
            for calls in self._calls.values():
                for other in calls:
                    for place, value in constants_of(other):
                        self._given.setdefault((last_name(other.func), place), set()).add(value)
        return len(self._given.get((last_name(call.func), slot), ())) > 1

    def has_loop(self, function: nodes.NodeNG) -> bool:
        """Whether a function holds a loop."""
        return any(part in self.looping for part in self._parts(function))

    def counted(self, cls: nodes.NodeNG) -> frozenset[str]:
        """The attributes that a class's methods count up or down."""
        return frozenset(name for part in self._parts(cls) for name in self._counted.get(part, ()))

    def _parts(self, scope: nodes.NodeNG) -> list[nodes.NodeNG]:
        parts = [scope]
        for part in parts:
            parts.extend(self._inner.get(part, ()))
        return parts


def last_name(node: nodes.NodeNG) -> str:
    """The name by which a function is called: `fit` for `self.trainer.fit`."""
    return str(getattr(node, "attrname", None) or getattr(node, "name", ""))


def constants_of(call: nodes.Call) -> Iterator[tuple[int | str | None, str | bool]]:
    """The texts and truths among the arguments of a call, each with its position or keyword."""
    for slot, node in [*enumerate(call.args), *((keyword.arg, keyword.value) for keyword in call.keywords)]:
        if isinstance(node, nodes.Const) and isinstance(node.value, (str, bool)):
            yield slot, node.value


BACKENDS = frozenset({"xla", "tpu", "neuron"})
DEVICE_CALLS = frozenset({"xla_device", "optimizer_step"})
CORE = ("torch_xla", "torch_xla.core", "torch_xla.core.xla_model")


def is_flag_for_xla(node: nodes.If) -> bool:
    """Whether a test asks a flag, and only the branch where it is set turns to XLA."""
    flag = isinstance(node.test, (nodes.Name, nodes.Attribute)) or is_choice(node.test)
    return flag and reaches_for_xla(node.body) and not reaches_for_xla(node.orelse)


def asks_for_xla(call: nodes.Call) -> bool:
    """Whether a call asks for a TPU, as the trainers of Lightning are asked."""
    return any(
        keyword.arg in ("accelerator", "strategy")
        and isinstance(keyword.value, nodes.Const)
        and str(keyword.value.value).startswith(("tpu", "xla"))
        for keyword in call.keywords
    )


def is_choice(node: nodes.NodeNG) -> bool:
    """Whether a test compares something with the name of an XLA backend: `backend == "xla"`."""
    return (
        isinstance(node, nodes.Compare)
        and isinstance(node.left, (nodes.Name, nodes.Attribute))
        and [op for op, _ in node.ops] in (["=="], ["!="])
        and isinstance(node.ops[0][1], nodes.Const)
        and node.ops[0][1].value in BACKENDS
    )


def reaches_for_xla(body: list[nodes.NodeNG]) -> bool:
    """Whether statements import torch_xla itself, or take its device or step with it: the body of `if use_xla:`."""
    for statement in body:
        if isinstance(statement, nodes.Import) and any(name in CORE for name, _ in statement.names):
            return True
        if isinstance(statement, nodes.ImportFrom) and statement.modname in CORE:
            return True
        if isinstance(statement, (nodes.Assign, nodes.Expr, nodes.AnnAssign)) and isinstance(
            statement.value, nodes.Call
        ):
            function = statement.value.func
            if isinstance(function, nodes.Attribute) and function.attrname in DEVICE_CALLS:
                return True
    return False


def root_name(node: nodes.NodeNG) -> str | None:
    """The name at the beginning of a chain of attributes and calls, None where something else begins it."""
    while isinstance(node, (nodes.Attribute, nodes.Call)):
        node = node.expr if isinstance(node, nodes.Attribute) else node.func
    return node.name if isinstance(node, nodes.Name) else None


def advances(value: nodes.NodeNG, target: str) -> bool:
    """Whether a value is computed from the name or attribute it is assigned to: `(n + 1) % size` for `n`."""
    if isinstance(value, nodes.BinOp):
        return advances(value.left, target) or advances(value.right, target)
    return isinstance(value, (nodes.Name, nodes.Attribute)) and value.as_string() == target


@lru_cache(maxsize=4)
def index_of(module: nodes.Module) -> Index:
    """The index of a module; those of the last few are kept."""
    return Index(module)
