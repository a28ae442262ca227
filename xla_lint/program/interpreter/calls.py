"""What calls mean: functions and classes of the project are followed, libraries are looked up."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.knowledge.operations import METADATA_ATTRIBUTES
from xla_lint.program.domain.definitions import Class, Function, Generator, Member, Method, ModuleValue
from xla_lint.program.domain.events import CallSite, Condition, How, RankIndex
from xla_lint.program.domain.join import element_of, join_all, per_replica
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.loops import Form, Loop
from xla_lint.program.domain.objects import (
    AUTOGRAD_FUNCTION,
    DEFAULT,
    SINGLE_DISPATCH,
    Super,
    bound_to,
    differs_between_replicas,
    is_dispatcher,
    is_enumeration,
    is_model,
    is_optimizer,
    is_undecided,
    library_base,
    lineage,
    model_on_device,
    resolved,
    without_assumed,
)
from xla_lint.program.domain.ranks import attribute_of, limits_to_one
from xla_lint.program.domain.state import Frame, State, meet_all
from xla_lint.program.domain.values import (
    DEVICE_TYPES,
    FACT,
    NO_TRAITS,
    NONE,
    NUMBER,
    SHAPE,
    TEXT,
    UNKNOWN,
    Choice,
    Device,
    Instance,
    Kind,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Value,
    as_setting,
    options,
)
from xla_lint.program.interpreter.expressions import Expressions
from xla_lint.program.interpreter.internal_errors import Boundary
from xla_lint.program.interpreter.memo import Memo, rebased
from xla_lint.program.library import call_library, call_method, enter_library, iterate_library
from xla_lint.program.library.optimizers import gradient_of, groups_of
from xla_lint.program.machine.machine import MOST_CALLS, Arguments
from xla_lint.program.syntax.names import canonical

if TYPE_CHECKING:
    from xla_lint.program.project.project import Project
    from xla_lint.program.project.scope import Version

PARAMETERS = frozenset({"weight", "bias", "in_proj_weight", "in_proj_bias", "running_mean", "running_var"})
"""The tensors that layers of `torch.nn` keep under these names."""
CONFIGURATIONS = frozenset({"config", "generation_config"})
VIEWS = frozenset({"T", "mT", "H", "mH", "real", "imag"})
DATACLASSES = frozenset({"dataclasses.dataclass", "attr.s", "attrs.define", "attr.dataclass"})


class Calls(Expressions):
    """Calls, attributes, iteration and context managers."""

    @abstractmethod
    def module_member(self, module: ModuleValue, name: str) -> Value:
        """A variable of a module of the project, or a module inside a package."""

    def __init__(
        self, module: nodes.Module, project: Project, target: Version, budget: int, *, assume_device: bool
    ) -> None:
        super().__init__(module, project, target, budget, assume_device=assume_device)
        self.exits: list[Any] = []
        self.defining: Class | None = None
        self._counters: dict[nodes.NodeNG, frozenset[str]] = {}
        self.memo = Memo()
        self.handed: set[nodes.NodeNG] = set()

    # Calls.

    def call(self, callee: Value, arguments: Arguments) -> Value:
        if self.state is None:
            return UNKNOWN
        if isinstance(callee, Function):
            return self.call_function(callee, arguments)
        if isinstance(callee, Name):
            return call_library(self, callee.dotted, arguments)
        if isinstance(callee, Method):
            return self.method(callee.receiver, callee.name, arguments)
        if isinstance(callee, Class):
            return self.instantiate(callee, arguments)
        if isinstance(callee, Instance):
            return self.call_instance(callee, arguments)
        if isinstance(callee, Tensor) and (callee.undecided or (callee.unstructured and not callee.certain)):
            return self.call_instance(model_on_device(callee), arguments)
        if isinstance(callee, Choice):
            results = [self.call(option, arguments) for option in callee.options if option is not NONE]
            return join_all(results)
        self.hand_over(arguments)
        return self.unknown_path(arguments.node)

    def method(self, receiver: Value, name: str, arguments: Arguments) -> Value:
        """The result of calling a method of a value that is not of the project."""
        if isinstance(receiver, Choice):
            return join_all(self.method(o, name, arguments) for o in receiver.options if o is not NONE)
        return call_method(self, receiver, name, arguments)

    def evaluate_callee(self, node: nodes.NodeNG) -> Value:
        if not isinstance(node, nodes.Attribute):
            return self.evaluate(node)
        receiver = self.evaluate(node.expr)
        callee = self.callee(receiver, node.attrname, node)
        if callee is UNKNOWN or (isinstance(callee, Method) and callee.receiver is UNKNOWN):
            used = self.by_use(node)
            if isinstance(used, Instance):
                return used
        return callee

    def callee(self, receiver: Value, name: str, node: nodes.NodeNG) -> Value:
        """The method of a receiver, ready to be called."""
        if isinstance(receiver, Choice):
            return join_all(self.callee(o, name, node) for o in receiver.options if o is not NONE)
        if isinstance(receiver, Tensor) or receiver is UNKNOWN:
            return Method(receiver, name)
        return self.attribute(receiver, name, node)

    def call_function(self, function: Function, arguments: Arguments) -> Value:
        """The result of calling a function of the project."""
        node = function.node
        if len(self.active) >= MOST_CALLS or self.active.count(node) > 1 or self.budget <= 0:
            return self.unknown_path(arguments.node)
        bound = self.bind_parameters(function, arguments)
        if function.frame.index is not None and node in function.frame.index.generators:
            return Generator(function, bound)
        return self.run_function(function, bound, arguments.node)

    def run_function(self, function: Function, bound: dict[str, Value], node: nodes.NodeNG) -> Value:
        plain = self.memo.plain_key(self, function, bound)
        if plain is not None and (result := self.memo.recall_plain(plain)) is not None:
            return result
        if self.memo.exhausted(self, function):
            return self.unknown_path(node) if function.node in self.memo.effectful else UNKNOWN
        bound = self.memo.widened(function, bound)
        key = self.memo.key(self, function, bound, node)
        if key is not None and (known := self.memo.recall(self, key)) is not None:
            return known
        mark, version, operations, events = self.heap.mark(), self.heap.version, self.operations, len(self.events)
        errors = len(self.errors)
        begun = self.here.epochs
        opaque = [loop.opaque for loop in self.loops[-1:]]
        if function.compiled:
            self.barrier(node, "torch_xla.compile", silent=True)
        self.calls.append(self.site(function, node))
        result, _ = self.activate(function, bound)
        self.calls.pop()
        if function.compiled:
            self.barrier(node, "torch_xla.compile", silent=True)
        if len(self.errors) > errors:
            self.memo.effectful.add(function.node)
            return result
        if self.here.epochs != begun or opaque != [loop.opaque for loop in self.loops[-1:]]:
            self.memo.effectful.add(function.node)
        elif plain is not None and (mark, operations, events) == (self.heap.mark(), self.operations, len(self.events)):
            self.memo.remember_plain(plain, result)
        if key is not None and version == self.heap.version and not self.heap.kept_tensors(mark):
            self.memo.remember(key, result, begun, self.here.among({}), self.operations - operations)
        return result

    def site(self, function: Function, node: nodes.NodeNG) -> CallSite:
        """The call of a function, as a message shows it."""
        return CallSite(function.name, int(node.lineno or 0), len(self.loops), node)

    def activate(
        self,
        function: Function,
        bound: dict[str, Value],
        on_yield: Callable[[Value], None] | None = None,
        consumer: Loop | None = None,
    ) -> tuple[Value, Frame]:
        """Run a function's body; what it returns, and its frame with what it yielded."""
        self.budget -= 1
        self.visited.add(function.node)
        self.memo.runs[function.node] += 1
        caller, entry = self.frame, self.here
        caller.env = entry.env
        home = function.frame
        frame = Frame(bound, home, function, function.owner, function.node, home.module, home.index)
        frame.depth = len(self.loops)
        frame.on_yield = on_yield
        frame.consumer = consumer
        exits, self.exits = self.exits, []
        self.active.append(function.node)
        self.frame = frame
        course = entry.among(bound)
        if function.no_grad:
            course.grad = False
        self.state = course
        if function.ranked:
            self.assume([Condition.RANK])
        if isinstance(function.receiver, Instance) and function.receiver.optional:
            self.assume([Condition.SETTING])
        with Boundary(self, function.node) as boundary:
            if isinstance(function.node, nodes.Lambda):
                frame.returns.append((self.evaluate(function.node.body), self.here))
            else:
                self.run(function.node.body)
                if self.state is not None:
                    frame.returns.append((NONE, self.state))
        self.active.pop()
        self.exits = exits
        self.frame = caller
        self.state = entry
        if boundary.failed:
            frame.returns.clear()
            self.opaque()
        if frame.returns:
            end = meet_all(state for _, state in frame.returns)
            assert end is not None
            frame.env = end.env
            entry.take_course(end)
        result = join_all(value for value, _ in frame.returns)
        ranked = any(
            constraint.condition is Condition.RANK
            for _, end in frame.returns
            for constraint in end.path_condition - entry.path_condition
        )
        return (per_replica(result) if ranked else result), frame

    def bind_parameters(self, function: Function, arguments: Arguments) -> dict[str, Value]:
        """The parameters of a function with the arguments of a call; what is missing and has no default is unknown."""
        spec = function.node.args
        names = [a.name for a in (*(spec.posonlyargs or []), *(spec.args or []))]
        positional = [*function.leading, *arguments.positional]
        if function.receiver is not None and not function.static:
            positional.insert(0, function.receiver)
        bound: dict[str, Value] = dict(zip(names, positional, strict=False))
        if spec.vararg:
            extra = positional[len(names) :]
            open_end = arguments.unpacked
            bound[spec.vararg] = Sequence(None if open_end else extra, join_all(extra), True)
        keywords = dict(arguments.keywords)
        for name in (*names, *(a.name for a in spec.kwonlyargs or [])):
            if name in keywords:
                bound[name] = keywords.pop(name)
            elif name not in bound:
                default = function.defaults.get(name, UNKNOWN)
                bound[name] = UNKNOWN if arguments.unpacked else default
        if spec.kwarg:
            rest = keywords.pop("**", None)
            kept = {name: value for name, value in function.defaults.items() if name not in bound}
            bound[spec.kwarg] = Mapping(
                {**kept, **keywords}, rest if rest is not None else (UNKNOWN if arguments.unpacked else None)
            )
        for name, value in bound.items():
            if function.frame.index is not None and is_undecided(value):
                bound[name] = resolved(value, function.frame.index.uses(function.node).get(name))
        return bound

    def hand_over(self, arguments: Arguments) -> None:
        """Functions given to code that cannot be seen are called by it, again and again.

        Such code, given a rank, may take this replica's part of the data.
        """
        values = arguments.values()
        if any(map(differs_between_replicas, values)):
            self.emit(RankIndex(arguments.node, self.context))
        for value in values:
            for option in options(value):
                if isinstance(option, Instance) and not option.model:
                    method = self.member(option.cls, "__call__")
                    if isinstance(method, Function):
                        self.run_callback(bound_to(method, option), arguments.node)
                elif isinstance(option, Function):
                    self.run_callback(option, arguments.node)

    def run_callback(self, function: Function, node: nodes.NodeNG) -> None:
        """Run a function that other code will call with arguments of its own."""
        if function.node in self.handed or function.node in self.active or self.budget <= 0:
            return
        self.handed.add(function.node)
        before, self.callback = self.callback, True
        with self._apart():
            self.activate(function, self.bind_parameters(function, Arguments(node, [])))
        self.callback = before

    def run_hook(self, function: Function, given: list[Value], node: nodes.NodeNG) -> None:
        """Run a function that a model calls with these values whenever it runs."""
        if function.node in self.handed or function.node in self.active or self.budget <= 0:
            return
        self.handed.add(function.node)
        with self._apart():
            self.loops.append(self.loop_at(function.node, Form.HOOK, function.name))
            self.activate(function, self.bind_parameters(function, Arguments(node, given)))

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Stand outside all loops, on a path of its own."""
        loops, self.loops = self.loops, []
        state, self.state = self.here, self.here.fork()
        yield
        self.state, self.loops = state, loops

    # Classes and instances.

    def decorate(self, value: Value, node: nodes.NodeNG) -> Value:
        """What a decorator makes of a function."""
        name = self.evaluate(node.func) if isinstance(node, nodes.Call) else self.evaluate(node)
        dotted = name.dotted if isinstance(name, Name) else ""
        if isinstance(value, Function):
            if dotted in ("torch.no_grad", "torch.inference_mode"):
                value.no_grad = True
                return value
            if dotted in ("torch_xla.compile", "torch_xla.experimental.compile"):
                value.compiled = True
                return value
            if dotted in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
                value.manager = True
                return value
            if dotted in ("builtins.property", "functools.cached_property"):
                value.getter = True
                return value
            if dotted == "builtins.staticmethod":
                value.static = True
                return value
            if dotted == "builtins.classmethod":
                value.bound_class = True
                return value
            if limits_to_one(name):
                value.ranked = True
                return value
            if dotted == SINGLE_DISPATCH:
                return Instance(None, dotted, {DEFAULT: value}, node=node)
            if dotted == "functools.singledispatchmethod":
                return UNKNOWN
            if isinstance(name, Method) and is_dispatcher(name.receiver):
                given = node.args if isinstance(node, nodes.Call) else (value.node.args.annotations or [])[:1]
                kind = [self.evaluate(item) for item in given if item is not None]
                self.call(name, Arguments(node, [*kind, value]))
                return value
        if dotted in ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast"):
            self.call(self.evaluate(node), Arguments(node, [value]))
            return value
        if isinstance(name, Function):
            decorator: Value = self.evaluate(node) if isinstance(node, nodes.Call) else name
            result = self.call(decorator, Arguments(node, [value]))
            return result if isinstance(result, (Function, Instance, Class)) else value
        return value

    def complete_class(self, cls: Class, node: nodes.ClassDef) -> None:
        """Find the fields of a dataclass or named tuple."""
        decorators = node.decorators.nodes if node.decorators is not None else []
        names = [self.evaluate(d.func if isinstance(d, nodes.Call) else d) for d in decorators]
        record = any(isinstance(n, Name) and n.dotted in DATACLASSES for n in names)
        tuple_like = any(isinstance(b, Name) and b.dotted == "typing.NamedTuple" for b in cls.bases)
        inherited = [b.fields for b in cls.bases if isinstance(b, Class) and b.fields]
        if record or tuple_like or inherited:
            own = [
                s.target.name
                for s in node.body
                if isinstance(s, nodes.AnnAssign) and isinstance(s.target, nodes.AssignName)
            ]
            cls.fields = [*(inherited[0] if inherited else []), *own]

    def instantiate(self, cls: Class, arguments: Arguments) -> Value:
        model = is_model(cls)
        instance = Instance(cls, library_base(cls), model=model, node=arguments.node)
        if model:
            instance.place, instance.certain = self.device.place, self.device.certain
        instance.optional = any(constraint.condition is Condition.SETTING for constraint in self.here.path_condition)
        if cls.fields is not None:
            self._fill_fields(instance, cls.fields, arguments)
            after = self.member(cls, "__post_init__")
            if isinstance(after, Function):
                self.call_function(bound_to(after, instance), Arguments(arguments.node, []))
        init = self.member(cls, "__init__")
        if isinstance(init, Function):
            self.call_function(bound_to(init, instance), arguments)
        elif cls.fields is None and instance.library:
            self.hand_over(arguments)
            call_method(self, instance, "__init__", arguments)
        return instance

    def _fill_fields(self, instance: Instance, fields: list[str], arguments: Arguments) -> None:
        given = {**dict(zip(fields, arguments.positional, strict=False)), **arguments.keywords}
        for name in fields:
            value = given.get(name)
            if value is None:
                value = self.member(instance.cls, name) if instance.cls is not None else None
                if value is None or (isinstance(value, Instance) and value.library == "dataclasses.field"):
                    factory = value.attributes.get("default_factory") if isinstance(value, Instance) else None
                    value = self.call(factory, Arguments(arguments.node, [])) if factory is not None else UNKNOWN
            instance.attributes[name] = as_setting(value)

    def member(self, cls: Class | None, name: str) -> Value | None:
        """A member of a class or of its bases in the project; None where no class in sight defines it."""
        if cls is None:
            return None
        if name in cls.members or not cls.bases:
            return cls.members.get(name)
        classes = (base for base in lineage(cls) if isinstance(base, Class))
        return next((base.members[name] for base in classes if name in base.members), None)

    def call_instance(self, instance: Instance, arguments: Arguments) -> Value:
        """The result of calling an object: a model's `forward`, or `__call__`."""
        if not instance.model:
            method = self.member(instance.cls, "__call__")
            if isinstance(method, Function):
                return self.call_function(bound_to(method, instance), arguments)
            return call_method(self, instance, "__call__", arguments)
        forward = instance.attributes.get("forward") or self.member(instance.cls, "forward")
        if not isinstance(forward, Function):
            return call_method(self, instance, "__call__", arguments)
        before, self.in_forward = self.in_forward, True
        tensors = arguments.tensors()
        if not before and Location.DEVICE in (instance.place, *(tensor.place for tensor in tensors)):
            self.forward(arguments.node, instance)
        result = self.call_function(forward if forward.receiver is not None else bound_to(forward, instance), arguments)
        self.in_forward = before
        if result is UNKNOWN:
            return call_method(self, instance, "__call__", arguments)
        return result

    def read(
        self, node: nodes.NodeNG, subject: nodes.NodeNG | None, value: Value, how: How, spelled: str, **more: Any
    ) -> bool:
        """Let the host ask for a value. An object of the project is formatted as its own method says.

        What is only assumed to be a tensor is none where it may as well be a text, and nothing is asked for that only
        tensors have; nor is what a test told from one.
        """
        if how in (How.FORMAT, How.BRANCH):
            value = without_assumed(value)
        if how is not How.FORMAT:
            return super().read(node, subject, value, how, spelled, **more)
        found = False
        for option in options(value):
            shown = self._shown(option, node, spelled)
            found |= super().read(node, subject, option if shown is None else shown, how, spelled, **more)
        return found

    def _shown(self, value: Value, node: nodes.NodeNG, spelled: str) -> Value | None:
        """What formatting an object of the project formats in turn; None for other values."""
        if not isinstance(value, Instance) or value.cls is None or value.model:
            return None
        names = ("__format__", "__str__", "__repr__") if spelled == "f-string" else ("__str__", "__repr__")
        for name in names:
            method = self.member(value.cls, name)
            if isinstance(method, Function):
                given: list[Value] = [TEXT] if name == "__format__" else []
                self.call_function(bound_to(method, value), Arguments(node, given))
                return NONE
        return Sequence(list(value.attributes.values())) if value.cls.fields is not None else NONE

    # Attributes.

    def attribute(self, value: Value, name: str, node: nodes.NodeNG) -> Value:
        if value is UNKNOWN or value is NONE:
            return UNKNOWN
        if isinstance(value, Name):
            return Name(canonical(f"{value.dotted}.{name}"))
        if isinstance(value, Instance):
            return self._instance_attribute(value, name, node)
        if isinstance(value, Tensor):
            return self._tensor_attribute(value, name, node)
        if isinstance(value, Choice):
            on_xla = [o for o in value.options if isinstance(o, Device) and o.place is Location.DEVICE]
            found = [self.attribute(o, name, node) for o in on_xla or value.options if o is not NONE]
            return join_all(found)
        if isinstance(value, Class):
            member = self.member(value, name)
            if isinstance(member, Function) and member.bound_class:
                return bound_to(member, value)
            if member is not None and name in value.members and is_enumeration(value, member):
                return Member(value.node, name, value, member)
            if member is None and library_base(value) == AUTOGRAD_FUNCTION:
                return Method(value, name)
            return member if member is not None else UNKNOWN
        if isinstance(value, Member):
            return self._member_attribute(value, name, node)
        if isinstance(value, ModuleValue):
            return self.module_member(value, name)
        if isinstance(value, Super):
            return self._super_attribute(value, name)
        if isinstance(value, Device):
            return Text(DEVICE_TYPES.get(value.place), fact=True) if name == "type" else NUMBER
        if isinstance(value, Loader) and name in ("dataset", "sampler", "batch_sampler"):
            return (value.host.sampler if name == "sampler" else None) or UNKNOWN
        if isinstance(value, Loader) and name == "batch_size":
            return value.host.batch_size or UNKNOWN
        if isinstance(value, Function):
            return TEXT if name in ("__name__", "__doc__", "__qualname__") else UNKNOWN
        if isinstance(value, (Text, Number)) and name == "value":
            return value
        return Method(value, name)

    def _member_attribute(self, value: Member, name: str, node: nodes.NodeNG) -> Value:
        if name == "value":
            return value.value
        if name == "name":
            return Text(value.name)
        member = self.member(value.cls, name)
        return self._method_of(value, value.cls, member, node) if isinstance(member, Function) else UNKNOWN

    def _method_of(self, value: Value, cls: Class | None, member: Function, node: nodes.NodeNG) -> Value:
        """A function of an object's class as the object's attribute; of a property, what it gives."""
        if member.getter:
            return self.call_function(bound_to(member, value), Arguments(node, []))
        return member if member.static else bound_to(member, cls if member.bound_class and cls else value)

    def _instance_attribute(self, value: Instance, name: str, node: nodes.NodeNG) -> Value:
        found = value.attributes.get(name)
        if found is not None:
            return found
        if name == "__dict__" and value.cls is not None:
            return Mapping(value.attributes)
        member = self.member(value.cls, name)
        if isinstance(member, Function):
            return self._method_of(value, value.cls, member, node)
        if member is not None:
            return member
        if value.model:
            if name == "training":
                return NUMBER
            if name == "device":
                return Device(value.place, value.certain)
            if name in PARAMETERS and (value.cls is None or value.library):
                return Tensor(value.place, certain=value.certain)
            if name in CONFIGURATIONS and value.library == "transformers.PreTrainedModel":
                value.attributes[name] = Instance(None, "transformers.PretrainedConfig", node=value.node)
                return value.attributes[name]
        if name == "param_groups" and is_optimizer(value) and value.place is Location.DEVICE:
            return groups_of(value)
        known = attribute_of(value.library, name)
        if known is not None:
            return known
        getter = self.member(value.cls, "__getattr__")
        if isinstance(getter, Function):
            return UNKNOWN
        if value.library or value.cls is None or not all(isinstance(b, Class) for b in value.cls.bases):
            return Method(value, name)
        return UNKNOWN

    def _tensor_attribute(self, value: Tensor, name: str, node: nodes.NodeNG) -> Value:
        if name == "shape":
            return Sequence(None, SHAPE, True)
        if name == "device":
            return Device(value.place, value.certain)
        if name in ("is_cuda", "is_xla") and value.place is Location.DEVICE:
            return Number(name == "is_xla", traits=FACT)
        if name in METADATA_ATTRIBUTES:
            return SHAPE
        if name == "grad":
            recorded_in = max(self.here.epochs) if value.place is Location.DEVICE else value.recorded_in
            return value.like(
                grad=False, recorded_in=recorded_in, line=int(node.lineno or 0), origins=gradient_of(value)
            )
        if name == "data":
            return value.alias(grad=False)
        if name in VIEWS:
            return self.derived(node, [value], kind=value.kind)
        if value.undecided:
            return UNKNOWN
        if value.unstructured or name in ("values", "indices"):
            kind = Kind.INT if name == "indices" else Kind.UNKNOWN
            return value.like(length=None, kind=kind)
        return Method(value, name)

    def _super_attribute(self, value: Super, name: str) -> Value:
        cls = value.receiver.cls if isinstance(value.receiver, Instance) else value.receiver
        order = lineage(cls) if isinstance(cls, Class) else []
        after = order[order.index(value.owner) + 1 :] if value.owner in order else lineage(value.owner)[1:]
        for base in after:
            member = base.members.get(name) if isinstance(base, Class) else None
            if isinstance(member, Function):
                return bound_to(member, value.receiver)
        return Method(value.receiver, name)

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """Set an attribute of an object."""
        for option in options(owner):
            if isinstance(option, Instance):
                if isinstance(value, (Tensor, Choice)):
                    scope = self.frame.owner.node if self.frame.owner is not None else (self.frame.node or self.module)
                    value = self.resolve_use(value, f"self.{name}", scope)
                if isinstance(value, Number) and option.cls is not None and name in self.counters(option.cls):
                    value = Number(None, value.loops | frozenset(self.loops), value.traits)
                self.heap.put(option.attributes, name, as_setting(value))

    def resolve_use(self, value: Value, path: str, scope: nodes.NodeNG) -> Value:
        """Decide by the use of a name or attribute what an unknown value that was moved to the device is."""
        return resolved(value, self.uses(scope).get(path)) if is_undecided(value) else value

    def counters(self, cls: Class) -> frozenset[str]:
        """The attributes that the methods of a class and of its bases count up or down."""
        found = self._counters.get(cls.node)
        if found is None:
            classes = (base for base in lineage(cls) if isinstance(base, Class))
            names = (base.frame.index.counted(base.node) for base in classes if base.frame.index is not None)
            found = self._counters[cls.node] = frozenset[str]().union(*names)
        return found

    # Iteration and context managers.

    def iterate(self, value: Value, loop: Loop | None, node: nodes.NodeNG) -> Value:
        if isinstance(value, Tensor):
            if value.unstructured:
                return value.alias(length=None)
            return self.derived(node, [value], kind=value.kind, grad=value.grad)
        if isinstance(value, Sequence):
            element = element_of(value)
            if loop is not None and isinstance(element, Number) and element.const is None:
                return Number(None, element.loops | {loop}, element.traits)
            return element
        if isinstance(value, Stream):
            return self._iterate_stream(value, loop, node)
        if isinstance(value, Loader):
            return self._iterate_loader(value, loop, node)
        if isinstance(value, Choice):
            return join_all(self.iterate(o, loop, node) for o in value.options if o is not NONE)
        if isinstance(value, Generator):
            return self._iterate_generator(value, node, loop)
        if isinstance(value, Mapping):
            return TEXT
        if isinstance(value, Instance):
            return self._iterate_instance(value, loop, node)
        if isinstance(value, Text):
            return TEXT
        if loop is not None:
            loop.opaque = True
        return UNKNOWN

    def _iterate_stream(self, value: Stream, loop: Loop | None, node: nodes.NodeNG) -> Value:
        if value.pieces:
            items = [self.iterate(piece, loop, node) for piece in value.pieces]
            return Sequence(items, join_all(items), True)
        if value.source is not None:
            return self.iterate(value.source, loop, node)
        if value.counted:
            traits = value.element.traits if isinstance(value.element, Number) else NO_TRAITS
            return Number(None, frozenset({loop}) if loop is not None else frozenset(), traits)
        return value.element

    def _iterate_loader(self, value: Loader, loop: Loop | None, node: nodes.NodeNG) -> Value:
        if not value.wrapped:
            return value.element
        if loop is not None and loop.cut.value >= 0 and self.loops and self.loops[-1] is loop:
            self.barrier(node, "next()", silent=True)
        return value.element

    def _iterate_generator(self, value: Generator, node: nodes.NodeNG, loop: Loop | None) -> Value:
        if value.function.node in self.active or self.budget <= 0:
            return self.unknown_path(node)
        self.calls.append(self.site(value.function, node))
        _, frame = self.activate(value.function, dict(value.bound), consumer=loop)
        self.calls.pop()
        return join_all(self._as_yielded(value, epochs) for value, epochs in frame.yields)

    def _as_yielded(self, value: Value, epochs: frozenset[int]) -> Value:
        """What a generator's consumer gets: what was pending when it was yielded is pending there."""
        if epochs == self.here.epochs:
            return value
        return rebased(value, dict.fromkeys(epochs, max(self.here.epochs)))

    def _iterate_instance(self, value: Instance, loop: Loop | None, node: nodes.NodeNG) -> Value:
        if value.cls is not None and not value.model:
            method = self.member(value.cls, "__iter__")
            if isinstance(method, Function):
                produced = self.call_function(bound_to(method, value), Arguments(node, []))
                if produced is value:
                    step = self.member(value.cls, "__next__")
                    return (
                        self.call(bound_to(step, value), Arguments(node, [])) if isinstance(step, Function) else UNKNOWN
                    )
                return self.iterate(produced, loop, node)
            method = self.member(value.cls, "__getitem__")
            if isinstance(method, Function):
                return self.call_function(bound_to(method, value), Arguments(node, [NUMBER]))
        return iterate_library(self, value, loop, node)

    def enter(self, manager: Value, body: Callable[[Value], None], node: nodes.NodeNG) -> None:
        """Run a `with` statement's body inside its context manager."""
        if isinstance(manager, Generator) and manager.function.manager:
            self._enter_generator(manager, body, node)
        elif isinstance(manager, Instance) and manager.cls is not None and self.member(manager.cls, "__enter__"):
            opened = self.call(self.attribute(manager, "__enter__", node), Arguments(node, []))
            body(opened)
            if self.state is not None:
                leave = self.attribute(manager, "__exit__", node)
                if isinstance(leave, Function):
                    self.call(leave, Arguments(node, [NONE, NONE, NONE]))
        else:
            enter_library(self, manager, body, node)

    def _enter_generator(self, manager: Generator, body: Callable[[Value], None], node: nodes.NodeNG) -> None:
        if manager.function.node in self.active or self.budget <= 0:
            self.opaque()
            body(UNKNOWN)
            return
        outer_frame, outer_state, outer_exits = self.frame, self.here, self.exits
        calls, active = list(self.calls), list(self.active)
        in_forward = self.in_forward
        ended: list[State | None] = []

        def on_yield(value: Value) -> None:
            inner = (self.frame, self.here, self.exits, list(self.calls), list(self.active))
            outer_state.take_course(self.here)
            self.frame, self.state, self.exits = outer_frame, outer_state, outer_exits
            self.calls[:], self.active[:] = calls, active
            body(value)
            after = self.state
            ended.append(after)
            self.frame, self.state, self.exits = inner[0], inner[1], inner[2]
            self.calls[:], self.active[:] = inner[3], inner[4]
            if after is not None:
                self.here.take_course(after)

        self.calls.append(self.site(manager.function, node))
        self.activate(manager.function, dict(manager.bound), on_yield)
        self.calls[:] = calls
        self.in_forward = in_forward
        if not ended:
            self.opaque()
            body(UNKNOWN)
        elif ended[-1] is None:
            self.state = None
        else:
            final = self.here
            self.state = ended[-1]
            self.state.take_course(final)
