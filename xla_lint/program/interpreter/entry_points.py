"""What a module's own top level does not reach: hooks, `forward`, and functions without a caller in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.objects import bound_to, is_model, library_base, lineage, member_of
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.state import State
from xla_lint.program.domain.touches import UNTOUCHED
from xla_lint.program.domain.values import NUMBER, UNKNOWN, Instance, Location, Mapping, Number, Tensor, options
from xla_lint.program.interpreter.functions import left_alone
from xla_lint.program.interpreter.seeds import annotations_of, seeded
from xla_lint.program.library.hooks import hook_keywords, hook_parameters, take_result
from xla_lint.program.library.networks import place_model
from xla_lint.program.library.optimizers import report_outdated
from xla_lint.program.machine.boundary import Boundary
from xla_lint.program.machine.memo import rebased
from xla_lint.program.machine.position import CONSTRUCTORS, MODULE, Position
from xla_lint.program.project.statements import REPLICA_FUNCTIONS
from xla_lint.program.syntax.imports import assigned_value, dotted_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from xla_lint.program.domain.values import Value
    from xla_lint.program.interpreter.interpreter import Interpreter
    from xla_lint.program.syntax.index import Index

OPTIMIZERS = "torch.optim."


class EntryPoints:
    """Runs what the module's own top level did not reach: hooks, `forward`, and functions without a caller in sight."""

    def __init__(self, machine: Interpreter, functions: set[int], statements: set[int]) -> None:
        """Take a machine that ran the top level, and the lines that other programs reached."""
        self.machine = machine
        self.reached_functions = functions
        self.reached_statements = statements
        self.instances: dict[nodes.NodeNG, Instance] = {}
        self.entries = MODULE
        self.after_hooks: dict[nodes.NodeNG | None, frozenset[int]] = {}
        """By class: the graph epoch that its hooks left open, for those that run after them."""
        self.touched = UNTOUCHED
        """What initialises the runtime as the module is imported."""
        self.device = machine.default_device

    def run(self) -> None:
        """Run every function that was not run yet, callers before callees where that can be told."""
        machine = self.machine
        if machine.at.state is None:
            machine.at.state = State(machine.globals.env, frozenset(), frozenset({1}))
        machine.globals.env = machine.here.env
        self.touched = machine.here.touched
        self.device = machine.default_device
        functions = list(self._functions())
        for function in functions:
            if hook_parameters(function) is not None and function.node.lineno not in self.reached_functions:
                self._run(function, Form.HOOK)
        for function, form in list(self._methods_elsewhere()):
            if function.node not in machine.visited:
                self._run(function, form)
        for function in self._callers_first(functions):
            if not self._was_run(function.node) and not self._is_dead(function):
                self._run(function, self._form(function))
        for node, instance in self.instances.items():
            with Boundary(machine, node):
                for value in instance.attributes.values():
                    report_outdated(machine, value)

    def _callers_first(self, functions: list[Function]) -> list[Function]:
        """The functions in such an order that those that mention one come before it; the last one first otherwise.

        The callers by one name are looked through once, however many functions have that name.
        """
        by_node: dict[nodes.NodeNG, Function] = {function.node: function for function in functions}
        callers: dict[tuple[bool, str], Iterator[Function]] = {}
        order: dict[Function, None] = {}
        entered: set[Function] = set()

        def callers_of(function: Function) -> Iterator[Function]:
            key = (function.owner is None, function.name)
            if key not in callers:
                around = (by_node.get(node.frame()) for node in self._named(function))
                callers[key] = (caller for caller in around if caller is not None)
            return callers[key]

        starts = list(reversed(functions))
        starts.sort(key=lambda function: any(True for _ in self._mentions(function)))
        for start in starts:
            path: list[Function] = []
            waiting: Function | None = None if start in entered else start
            while path or waiting is not None:
                if waiting is not None:
                    entered.add(waiting)
                    path.append(waiting)
                waiting = next((caller for caller in callers_of(path[-1]) if caller not in entered), None)
                if waiting is None:
                    order[path.pop()] = None
        return list(order)

    def _named(self, function: Function) -> list[Any]:
        """Where its module uses a function's name, or an attribute of a method's name."""
        index = self._index(function)
        return (index.mentioned if function.owner is None else index.attributes).get(function.name, [])

    def _mentions(self, function: Function) -> Iterator[nodes.NodeNG]:
        """Where its module names a function, outside the function itself."""
        return (node for node in self._named(function) if not function.node.parent_of(node))

    def _is_dead(self, function: Function) -> bool:
        """Whether nothing mentions a function but statements that the code around them never comes to."""
        passed_by = False
        for node in self._mentions(function):
            if not self._is_passed_by(node):
                return False
            passed_by = True
        return passed_by

    def _is_passed_by(self, node: nodes.NodeNG) -> bool:
        statement, around = node.statement(), node.frame()
        if statement in self.machine.ran or statement.lineno in self.reached_statements:
            return False
        return isinstance(around, nodes.Module) or self._was_run(around)

    def _was_run(self, function: nodes.NodeNG) -> bool:
        return function in self.machine.visited or function.lineno in self.reached_functions

    def _functions(self) -> list[Function]:
        found: list[Function] = []
        for value in list(self.machine.globals.env.values()):
            if isinstance(value, Function) and value.node.root() is self.machine.module:
                found.append(value)
            elif isinstance(value, Class) and isinstance(value.node, nodes.ClassDef):
                found.extend(
                    member
                    for member in value.members.values()
                    if isinstance(member, Function) and member.owner is value
                )
        return sorted(dict.fromkeys(found), key=lambda function: int(function.node.lineno or 0))

    def _methods_elsewhere(self) -> Iterator[tuple[Function, Form]]:
        """What frameworks call on the objects that were made of classes of other modules: hooks first, then models."""
        made = [option for value in self.machine.heap.built.values() for option in options(value)]
        bases = (base for one in made if isinstance(one, Instance) and one.cls is not None for base in lineage(one.cls))
        classes = dict.fromkeys(base for base in bases if isinstance(base, Class))
        others = [cls for cls in classes if cls.node.root() is not self.machine.module]
        members = [member for cls in others for member in cls.members.values()]
        methods = [member for member in members if isinstance(member, Function) and member.owner in classes]
        yield from ((method, Form.HOOK) for method in methods if hook_parameters(method) is not None)
        yield from ((method, Form.FORWARD) for method in methods if self._form(method) is Form.FORWARD)

    def _form(self, function: Function) -> Form | None:
        if function.owner is not None and is_model(function.owner) and function.name == "forward":
            return Form.FORWARD
        uses = self._index(function).uses(function.node)
        steppers = (path for path, use in uses.items() if use.is_optimizer or "step" in use.methods)
        steps = any(not is_made_in(function.node, path) for path in steppers)
        if steps and any(use.is_loss for use in uses.values()) and not self._index(function).has_loop(function.node):
            return Form.STEP
        return None

    def _index(self, function: Function) -> Index:
        """What the syntax of a function's module tells."""
        return function.frame.index or self.machine.index

    def _run(self, function: Function, form: Form | None) -> None:
        machine = self.machine
        if machine.limits.exhausted(function.node) or isinstance(function.node, nodes.Lambda):
            return
        owner = function.owner.node if function.owner is not None and form is Form.HOOK else None
        epochs = self.after_hooks.get(owner, frozenset({1}))
        state = State(dict(machine.globals.env), frozenset(), epochs, touched=self.touched, work=form is Form.HOOK)
        machine.at = Position(machine.globals, state)
        machine.default_device = self.device
        with Boundary(machine, function.node):
            self._start(function, form)
            if owner is not None and machine.at.state is not None:
                self.after_hooks[owner] = frozenset({max(machine.at.state.epochs)})

    def _start(self, function: Function, form: Form | None) -> None:
        machine, at = self.machine, self.machine.at
        target = function
        if function.owner is not None and not function.static:
            target = bound_to(function, function.owner if function.bound_class else self._instance(function.owner))
        bound = self._parameters(target, form)
        if form is not None:
            at.loops = (machine.loop_table.loop(function.node, function.name, at, form),)
        if form is Form.HOOK:
            counter = Number(loops=frozenset(at.loops))
            bound = {name: counter if value is NUMBER else value for name, value in bound.items()}
        at.in_forward = form is Form.FORWARD
        at.replicated = function.name in REPLICA_FUNCTIONS and function.owner is None
        if at.replicated and function.node.args.args:
            bound[function.node.args.args[0].name] = RANK
        self.entries += 1
        at.entry_point = self.entries
        at.callback = is_callback(function) or function.node in self._index(function).generators
        newest = {1: max(machine.here.epochs)}
        bound = {name: rebased(value, newest) if type(value) is Tensor else value for name, value in bound.items()}
        returned, _ = machine.activate(target, bound)
        take_result(machine, target, returned)
        if function.node not in self._index(function).generators:
            report_outdated(machine, returned)

    def _instance(self, cls: Class) -> Instance:
        """The instance of a class that its methods are called on: for those of a framework the one that was built."""
        found = self.instances.get(cls.node)
        if found is None:
            built = self.machine.heap.built.get(cls.node)
            found = self.instances[cls.node] = built if isinstance(built, Instance) else self._made(cls)
            if found.model:
                place_model(self.machine, found, Location.DEVICE, certain=False)
        return found

    def _made(self, cls: Class) -> Instance:
        """An instance of a class whose constructor has no caller in sight."""
        machine, model = self.machine, is_model(cls)
        place = Location.DEVICE if model else Location.UNKNOWN
        made = Instance(cls, library_base(cls), place=place, model=model, certain=False)
        init = member_of(cls, "__init__")
        if isinstance(init, Function):
            bound = bound_to(init, made)
            with machine.elsewhere(entry_point=CONSTRUCTORS):
                machine.activate(bound, self._parameters(bound, None))
        return made

    def _parameters(self, function: Function, form: Form | None) -> dict[str, Value]:
        """A function's parameters, as their use and annotations show them."""
        spec = function.node.args
        uses = self._index(function).uses(function.node)
        instance = function.receiver if isinstance(function.receiver, Instance) else None
        bound: dict[str, Value] = {}
        parameters = [*(spec.posonlyargs or []), *(spec.args or []), *(spec.kwonlyargs or [])]
        notes = annotations_of(function)
        skip = 1 if function.receiver is not None and not function.static and parameters else 0
        if skip:
            assert function.receiver is not None
            bound[parameters[0].name] = function.receiver
        given = hook_parameters(function) if form is Form.HOOK else None
        named = hook_keywords(function) if form is Form.HOOK else {}
        for position, parameter in enumerate(parameters[skip:]):
            if given is not None and position < len(given):
                bound[parameter.name] = held_by(instance, given[position])
            elif parameter.name in named:
                bound[parameter.name] = named.pop(parameter.name)
            elif function.name in BY_SYNTAX and parameter.name in function.defaults:
                bound[parameter.name] = left_alone(function.defaults[parameter.name])
            else:
                bound[parameter.name] = (
                    seeded(uses.get(parameter.name), notes.get(parameter.name), form, instance)
                    if self.machine.assume_device
                    else UNKNOWN
                )
        if spec.vararg:
            bound[spec.vararg] = UNKNOWN
        if spec.kwarg:
            bound[spec.kwarg] = Mapping(named, UNKNOWN) if named else UNKNOWN
        return bound


BY_SYNTAX = frozenset({"__getitem__", "__iter__", "__len__", "__next__"})
"""Methods that Python itself calls, with no more than it needs: other parameters keep their defaults."""


def held_by(owner: Instance | None, given: Value) -> Value:
    """What a framework gives: of models the one that the object was made with, where that is known."""
    if owner is None or owner.model or not isinstance(given, Instance) or not given.model:
        return given
    held = owner.attributes.get("model", UNKNOWN)
    return held if all(isinstance(option, Instance) and option.model for option in options(held)) else given


def is_callback(function: Function) -> bool:
    """Whether a function without a caller in sight is one that a loader calls for each row or batch."""
    if function.owner is None:
        return False
    base = library_base(function.owner)
    if function.name == "__getitem__":
        return True
    return function.name == "__call__" and (not base or base.startswith("transformers.DataCollator"))


def is_made_in(function: nodes.NodeNG, name: str) -> bool:
    """Whether a function itself builds the optimizer of a name, which then begins anew with every call."""
    bound = getattr(function, "locals", {}).get(name, ())
    values = [assigned_value(binding) for binding in bound]
    return bool(values) and all(
        isinstance(value, nodes.Call) and (dotted_name(value.func) or "").startswith(OPTIMIZERS) for value in values
    )
