"""What one walk over a module's tree tells: its imports, how names are used in each scope, what yields and loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from astroid import nodes

from xla_lint.program.backend import ASSUMED, BACKENDS, names
from xla_lint.program.backend.backend import Role
from xla_lint.program.syntax.device_tests import holds_on_device_alone
from xla_lint.program.syntax.uses import Uses, note_call, note_filled, receiver_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

LEAVES = frozenset({nodes.Const, nodes.AssignName, nodes.Pass, nodes.DelName, nodes.Break, nodes.Continue})
"""What has no nodes inside, and tells nothing."""
TAKE_DEVICES = frozenset({"to", "init_process_group", "compile"})
"""The functions and methods, by last name, that are told a device or what is for one, whatever they are called on."""
KEPT_AS = "_xla_lint_index"
"""The attribute of a tree that holds its index."""
SCOPES = frozenset({nodes.FunctionDef, nodes.AsyncFunctionDef, nodes.Lambda, nodes.ClassDef})


IMPORTERS = ("import_module", "__import__")
"""What imports a module by a text."""


class Index:
    """What can be told of one module whatever the order in which it runs."""

    def __init__(self, module: nodes.Module) -> None:
        self.imported: set[str] = set()
        """The dotted names that it imports, at any depth of nesting, relative imports left out."""
        self.imports: list[nodes.Import | nodes.ImportFrom] = []
        """Its imports, the last one first."""
        self.mentioned: dict[str, list[nodes.Name]] = defaultdict(list)
        """Every name that it uses, and where."""
        self.attributes: dict[str, list[nodes.Attribute]] = defaultdict(list)
        """Every attribute that it uses."""
        self.generators: set[nodes.NodeNG] = set()
        """The functions whose own body yields."""
        self.looping: set[nodes.NodeNG] = set()
        """The functions that hold a loop, in themselves or in a function inside."""
        self.taken_over: dict[nodes.NodeNG, set[str]] = {}
        """By loop, as far as it was asked: the names that a turn may take over from the turn before."""
        self.flags: set[str] = set()
        """The names and attributes that a test asks to know whether the program runs on XLA."""
        self.kinds: dict[str, str] = {}
        """By the last name of what holds it: how a program calls the lazy device, set where it takes the device."""
        self._read_from_inside: dict[nodes.NodeNG, dict[str, list[nodes.Name]]] = {}
        self._bound: dict[str, set[str]] = {}
        self._aliases: dict[str, list[str]] = defaultdict(list)
        """By name: the names that are assigned from it, or from what it holds or gives."""
        self._named: dict[str, str] = {}
        """What each imported name stands for."""
        self._calls: dict[nodes.NodeNG, list[nodes.Call]] = defaultdict(list)
        self._targets: dict[nodes.NodeNG, list[nodes.AssignAttr | nodes.Subscript]] = defaultdict(list)
        """By scope: the attributes and items that are assigned in it."""
        self._own: dict[nodes.NodeNG, Uses] = {}
        self._inner: dict[nodes.NodeNG, list[nodes.NodeNG]] = defaultdict(list)
        self._counted: dict[nodes.NodeNG, set[str]] = {}
        self._counting: dict[nodes.NodeNG, dict[str, set[str]]] = {}
        """By class: what its methods count."""
        self._uses: dict[nodes.NodeNG, Uses] = {}
        self._given: defaultdict[tuple[str, int | str | None], set[str]] | None = None
        """By function and argument: the texts that calls spell out."""
        self._walk(module)

    def _walk(self, module: nodes.Module) -> None:
        mentioned, attributes = self.mentioned, self.attributes
        scopes: list[nodes.NodeNG] = [module]
        for scope in scopes:
            calls, inner = self._calls[scope], self._inner[scope]
            pending = list(scope.get_children())
            while pending:
                node: Any = pending.pop()
                kind = type(node)
                if kind is nodes.Name:
                    mentioned[node.name].append(node)
                elif kind is nodes.Attribute:
                    attributes[node.attrname].append(node)
                    pending.append(node.expr)
                elif kind is nodes.Call:
                    calls.append(node)
                    pending.append(node.func)
                    pending += node.args
                    pending += node.keywords
                elif kind in SCOPES:
                    inner.append(node)
                elif kind not in LEAVES:
                    note = NOTES.get(kind)
                    if note is not None:
                        note(self, node, scope)
                    pending += node.get_children()
            scopes += inner
        for name in IMPORTERS:
            self.imported.update(
                filter(None, map(imported_by_name, (*attributes.get(name, ()), *mentioned.get(name, ()))))
            )
        self.imports.sort(key=lambda statement: (statement.lineno or 0, statement.col_offset or 0), reverse=True)
        for statement in self.imports:
            self._bind(statement)

    def _note_import(self, node: nodes.Import | nodes.ImportFrom, _: nodes.NodeNG) -> None:
        self.imports.append(node)

    def _note_yield(self, _: nodes.NodeNG, scope: nodes.NodeNG) -> None:
        self.generators.add(scope)

    def _note_loop(self, _: nodes.NodeNG, scope: nodes.NodeNG) -> None:
        self.looping.add(scope)

    def _note_test(self, node: nodes.If, _: nodes.NodeNG) -> None:
        flag = flag_for_xla(node)
        if flag is not None:
            self.flags.add(flag)

    def _note_assignment(self, node: nodes.Assign | nodes.AugAssign, scope: nodes.NodeNG) -> None:
        target = node.target if isinstance(node, nodes.AugAssign) else node.targets[0]
        if isinstance(target, (nodes.AssignName, nodes.AssignAttr)) and holds_on_device_alone(node.value):
            self.flags.add(target.as_string())
        if isinstance(node.value, nodes.Const) and node.value.value in CHOICES and stands_by_device(node):
            self.kinds[last_name(target)] = node.value.value
        if isinstance(target, (nodes.AssignAttr, nodes.Subscript)):
            self._targets[scope].append(target)
        if isinstance(target, nodes.AssignName):
            if (root := root_name(node.value)) is not None:
                self._aliases[root].append(target.name)
        elif isinstance(target, nodes.AssignAttr) and (
            isinstance(node, nodes.AugAssign)
            or (isinstance(node.value, (nodes.BinOp, nodes.Attribute)) and advances(node.value, target))
        ):
            self._counted.setdefault(scope, set()).add(target.attrname)

    def _bind(self, statement: nodes.Import | nodes.ImportFrom) -> None:
        if isinstance(statement, nodes.Import):
            self.imported.update(name for name, _ in statement.names)
            for name, alias in statement.names:
                package = name.partition(".")[0]
                self._bound.setdefault(alias or package, set()).add(package)
                self._named[alias or package] = name if alias else package
        elif not statement.level:
            self.imported.update(f"{statement.modname}.{name}" for name, _ in statement.names)
            for name, alias in statement.names:
                self._bound.setdefault(alias or name, set()).add((statement.modname or "").partition(".")[0])
                self._named[alias or name] = f"{statement.modname}.{name}"

    def names_for(self, package: str) -> frozenset[str]:
        """The names that may stand for something of a package: imported from it, or assigned from such a name."""
        found = dict.fromkeys(name for name, packages in self._bound.items() if package in packages)
        pending = list(found)
        for name in pending:
            more = [alias for alias in self._aliases.get(name, ()) if alias not in found]
            found.update(dict.fromkeys(more))
            pending += more
        return frozenset(found)

    def uses(self, scope: nodes.NodeNG) -> Uses:
        """How each name, and each attribute of a name, is used in a scope and in the scopes inside it.

        A name that a scope inside binds is another one there; `self` stands for the same object in all methods.
        """
        found = self._uses.get(scope)
        if found is None:
            found = self._uses[scope] = dict(self._uses_in(scope))
            for part in self._inner.get(scope, ()):
                bound = getattr(part, "locals", {})
                for path, use in self.uses(part).items():
                    name = path.partition(".")[0]
                    if name == "self" or name not in bound:
                        found[path] = found[path] | use if path in found else use
        return found

    def _uses_in(self, part: nodes.NodeNG) -> Uses:
        found = self._own.get(part)
        if found is None:
            found = self._own[part] = {}
            receiver = receiver_of(part)
            for call in self._calls.get(part, ()):
                note_call(call, found, self._named, receiver)
            for target in self._targets.get(part, ()):
                note_filled(target, found, receiver)
        return found

    def told_apart(self, call: nodes.Call, slot: int | str | None) -> bool:
        """Whether the calls of a function give different texts as one of its arguments."""
        if self._given is None:
            self._given = defaultdict(set)
            for other, place, text in self.texts:
                self._given[last_name(other.func), place].add(text)
        return len(self._given.get((last_name(call.func), slot), ())) > 1

    @cached_property
    def texts(self) -> list[GivenText]:
        """The texts among the arguments of all calls."""
        return [given for calls in self._calls.values() for call in calls for given in texts_of(call)]

    def may_take_device(self, function: nodes.NodeNG) -> bool:
        """Whether a function may be told a device of torch: `x.to("cpu")`, `torch.ones(2, device="cpu")`."""
        if last_name(function) in TAKE_DEVICES:
            return True
        root = root_name(function)
        return root is not None and "torch" in self._bound.get(root, ())

    @cached_property
    def set_attributes(self) -> frozenset[str]:
        """The names of the attributes that it assigns, on whatever object."""
        targets = (target for part in self._targets.values() for target in part)
        return frozenset(target.attrname for target in targets if isinstance(target, nodes.AssignAttr))

    def assigned_on(self, cls: nodes.NodeNG, name: str) -> list[nodes.AssignAttr]:
        """Where the methods of a class set an attribute of that name."""
        parts = (part for method in self._inner.get(cls, ()) for part in self._parts(method))
        targets = (target for part in parts for target in self._targets.get(part, ()))
        return [target for target in targets if isinstance(target, nodes.AssignAttr) and target.attrname == name]

    def has_loop(self, function: nodes.NodeNG) -> bool:
        """Whether a function holds a loop."""
        return any(part in self.looping for part in self._parts(function))

    def read_from_inside(self, scope: nodes.NodeNG) -> dict[str, list[nodes.Name]]:
        """The names that functions and classes inside a scope read and do not bind themselves, and where."""
        found = self._read_from_inside.get(scope)
        if found is None:
            found = self._read_from_inside[scope] = defaultdict(list)
            for part in self._inner.get(scope, ()):
                for name in part.nodes_of_class(nodes.Name):
                    if not is_local(name, scope):
                        found[name.name].append(name)
        return found

    def counted(self, cls: nodes.NodeNG) -> dict[str, set[str]]:
        """The attributes that a class's methods count up or down, each with the names of these methods."""
        found = self._counting.get(cls)
        if found is None:
            found = self._counting[cls] = {}
            for method in self._inner.get(cls, ()):
                for name in {name for part in self._parts(method) for name in self._counted.get(part, ())}:
                    found.setdefault(name, set()).add(getattr(method, "name", ""))
        return found

    def _parts(self, scope: nodes.NodeNG) -> list[nodes.NodeNG]:
        parts = [scope]
        for part in parts:
            parts.extend(self._inner.get(part, ()))
        return parts


def is_local(name: nodes.Name, around: nodes.NodeNG) -> bool:
    """Whether a name belongs to a function or a comprehension inside a scope."""
    scope = name.scope()
    while scope is not around and scope.parent is not None:
        if name.name in scope.locals:
            return True
        scope = scope.parent.scope()
    return False


def imported_by_name(function: nodes.NodeNG) -> str:
    """The dotted name that a call of `import_module` imports, empty where it does not spell it out."""
    call = function.parent
    first = call.args[0] if isinstance(call, nodes.Call) and call.func is function and call.args else None
    return first.value if isinstance(first, nodes.Const) and isinstance(first.value, str) else ""


def last_name(node: nodes.NodeNG) -> str:
    """The name by which a function is called: `fit` for `self.trainer.fit`."""
    return str(getattr(node, "attrname", None) or getattr(node, "name", ""))


class GivenText(NamedTuple):
    """A text that a call spells out as an argument."""

    call: nodes.Call
    slot: int | str | None
    """The argument's position or keyword."""
    text: str


def texts_of(call: nodes.Call) -> Iterator[GivenText]:
    """The texts among the arguments of a call."""
    for position, argument in enumerate(call.args):
        if type(argument) is nodes.Const and isinstance(argument.value, str):
            yield GivenText(call, position, argument.value)
    for keyword in call.keywords:
        given = keyword.value
        if type(given) is nodes.Const and isinstance(given.value, str):
            yield GivenText(call, keyword.arg, given.value)


NOTES: dict[type[nodes.NodeNG], Callable[[Index, Any, nodes.NodeNG], None]] = {
    **dict.fromkeys((nodes.Import, nodes.ImportFrom), Index._note_import),
    **dict.fromkeys((nodes.Yield, nodes.YieldFrom), Index._note_yield),
    **dict.fromkeys((nodes.For, nodes.AsyncFor, nodes.While), Index._note_loop),
    **dict.fromkeys((nodes.Assign, nodes.AugAssign), Index._note_assignment),
    nodes.If: Index._note_test,
}
"""What is noted of a node of each kind, besides those that the walk itself knows."""
CHOICES = frozenset[str]().union(*(backend.choices for backend in BACKENDS))
DEVICE_CALLS = frozenset(ASSUMED.names(Role.DEVICE)).union(
    name.rpartition(".")[2] for name in ASSUMED.names(Role.DEVICE, Role.OPTIMIZER_STEP)
) - {"device"}
"""The functions that only a lazy device has, by last name and whole: `device` alone is an attribute of much else."""
CLOSURES = frozenset(name.rpartition(".")[2] for name in names(Role.STEP_CLOSURE))
CORE = frozenset(module for backend in BACKENDS for module in backend.core)


def flag_for_xla(node: nodes.If) -> str | None:
    """The flag that a test asks, where only the branch in which it is set turns to XLA."""
    flag, to_xla, other = node.test, node.body, node.orelse
    if isinstance(flag, nodes.UnaryOp) and flag.op == "not":
        flag, to_xla, other = flag.operand, other, to_xla
    if not is_flag(flag):
        return None
    reached = reaches_for_xla(to_xla) and not reaches_for_xla(other)
    return flag.as_string() if reached or registers_calls_of(to_xla, other) else None


def is_flag(node: nodes.NodeNG) -> bool:
    """Whether a test asks a name, an attribute, a function without arguments, or for the name of an XLA backend."""
    if isinstance(node, nodes.Call):
        return not (node.args or node.keywords) and is_flag(node.func)
    return isinstance(node, (nodes.Name, nodes.Attribute)) or is_choice(node)


def registers_calls_of(to_xla: list[nodes.NodeNG], other: list[nodes.NodeNG]) -> bool:
    """Whether statements hand functions to step closures which the other branch calls at once."""
    handed = {last_name(call.args[0]) for call in calls_in(to_xla) if last_name(call.func) in CLOSURES and call.args}
    return bool(handed) and any(last_name(call.func) in handed for call in calls_in(other))


def calls_in(body: list[nodes.NodeNG]) -> Iterator[nodes.Call]:
    """The calls that are statements of a block."""
    for statement in body:
        if isinstance(statement, nodes.Expr) and isinstance(statement.value, nodes.Call):
            yield statement.value


def is_choice(node: nodes.NodeNG) -> bool:
    """Whether a test compares something with the name of an XLA backend: `backend == "xla"`."""
    return (
        isinstance(node, nodes.Compare)
        and isinstance(node.left, (nodes.Name, nodes.Attribute))
        and [op for op, _ in node.ops] in (["=="], ["!="])
        and isinstance(node.ops[0][1], nodes.Const)
        and node.ops[0][1].value in CHOICES
    )


def reaches_for_xla(body: list[nodes.NodeNG]) -> bool:
    """Whether statements import a backend itself, or take its device or step with it: the body of `if use_xla:`."""
    for statement in body:
        if isinstance(statement, nodes.Import) and any(name in CORE for name, _ in statement.names):
            return True
        if isinstance(statement, nodes.ImportFrom) and statement.modname in CORE:
            return True
    return calls_one_of(body, DEVICE_CALLS)


def stands_by_device(node: nodes.NodeNG) -> bool:
    """Whether a statement stands in a branch beside the call that takes the lazy device."""
    if not isinstance(node.parent, (nodes.If, nodes.Try)):
        return False
    block = node.parent.body if node in node.parent.body else node.parent.orelse
    return node in block and calls_one_of(block, DEVICE_CALLS)


def calls_one_of(body: list[nodes.NodeNG], names: Collection[str]) -> bool:
    """Whether a statement is a call of a method or function of one of these names, or assigns its result."""
    for statement in body:
        if isinstance(statement, (nodes.Assign, nodes.Expr, nodes.AnnAssign)) and isinstance(
            statement.value, nodes.Call
        ):
            function = statement.value.func
            if isinstance(function, nodes.Attribute) and (
                function.attrname in names or f"{function.expr.as_string()}.{function.attrname}" in names
            ):
                return True
    return False


def root_name(node: nodes.NodeNG) -> str | None:
    """The name at the beginning of a chain of attributes and calls, None where something else begins it."""
    part: Any = node
    while (kind := type(part)) is nodes.Attribute or kind is nodes.Call:
        part = part.expr if kind is nodes.Attribute else part.func
    return part.name if kind is nodes.Name else None


def advances(value: nodes.NodeNG, target: nodes.NodeNG) -> bool:
    """Whether a value is computed from the name or attribute it is assigned to: `(n + 1) % size` for `n`."""
    while isinstance(value, nodes.BinOp):
        if advances(value.right, target):
            return True
        value = value.left
    return is_same_reference(value, target)


def is_same_reference(value: nodes.NodeNG, target: nodes.NodeNG) -> bool:
    """Whether an expression is the name or attribute that an assignment sets."""
    if isinstance(value, nodes.Name):
        return isinstance(target, nodes.AssignName) and bool(value.name == target.name)
    return (
        isinstance(value, nodes.Attribute)
        and isinstance(target, nodes.AssignAttr)
        and bool(value.attrname == target.attrname)
        and value.as_string() == target.as_string()
    )


def forget_index(module: nodes.Module) -> None:
    """Let go of a module's index: it is made anew if it is asked for again."""
    vars(module).pop(KEPT_AS, None)


def index_of(module: nodes.Module) -> Index:
    """The index of a module, made once; it lives as long as the tree."""
    kept = vars(module)
    index = kept.get(KEPT_AS)
    if not isinstance(index, Index):
        index = kept[KEPT_AS] = Index(module)
    return index
