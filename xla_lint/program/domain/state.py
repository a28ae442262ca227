"""What is true at one point of the program: variables, guards, and what is pending."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xla_lint.program.domain.environment import changes
from xla_lint.program.domain.loops import Cut
from xla_lint.program.domain.values import Number, Tensor, Text, Value, join, per_replica, tensors_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from astroid import nodes

    from xla_lint.program.domain.environment import Environment
    from xla_lint.program.domain.events import Constraint
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Class, Device, Function
    from xla_lint.program.syntax.index import Index


@dataclass(slots=True, eq=False)
class Phase:
    """How far the training step of one iteration has come."""

    done: str
    """`forward` or `backward`: the last part of the step that ran."""
    loop: Loop | None
    cut: nodes.NodeNG | None = None
    """The barrier that came after it."""
    path_condition: frozenset[Constraint] = frozenset()
    """The guards at that barrier."""


@dataclass(frozen=True, slots=True)
class Gradients:
    """What has happened to the gradients of this replica."""

    computed: bool = False
    """A backward pass has run, on the device or where it cannot be told."""
    placed: bool = False
    """It was one of tensors on the device."""
    reduced: bool = False
    """They have been reduced over the replicas since, or might have been."""
    clipped: frozenset[tuple[nodes.NodeNG, str]] = frozenset()
    """What clipped or unscaled them since, before they were reduced: each call and its spelling."""

    def meet(self, other: Gradients) -> Gradients:
        """What may have happened where two paths come together."""
        return Gradients(
            self.computed or other.computed,
            self.placed or other.placed,
            self.reduced or other.reduced,
            self.clipped | other.clipped,
        )


NO_GRADIENTS = Gradients()


@dataclass(slots=True)
class State:
    """One point of the program. `env` belongs to the state and is copied when paths part."""

    env: Environment
    path_condition: frozenset[Constraint]
    epochs: frozenset[int]
    """The graph segments that may be open here: what was recorded in one of them is pending."""
    cut: Cut = Cut.NEVER
    """Whether the innermost loop's iteration has passed a barrier."""
    materialised: frozenset[Tensor] = frozenset()
    """Tensors of an open segment whose value was fetched in a way that materialises them."""
    grad: bool = True
    """False under `no_grad`."""
    phase: Phase | None = None
    work: bool = False
    """Something was recorded since the last barrier."""
    gradients: Gradients = NO_GRADIENTS
    touched: frozenset[tuple[nodes.NodeNG, str]] = frozenset()
    """What has initialised the XLA runtime in this process: each call and its dotted name."""
    device: Device | None = None
    """Where a `with` statement puts the tensors that are made inside."""

    def fork(self) -> State:
        """A copy for another path."""
        return self.among(dict(self.env))

    def among(self, env: Environment) -> State:
        """A copy with other variables."""
        return State(
            env, self.path_condition, self.epochs, self.cut, self.materialised, self.grad, self.phase, self.work,
            self.gradients, self.touched, self.device,
        )  # fmt: skip

    def course(self) -> tuple[Any, ...]:
        """All but the variables and what is pending, to compare."""
        phase = self.phase
        done = None if phase is None else (phase.done, phase.loop, phase.cut)
        return self.path_condition, self.cut, self.grad, self.work, self.gradients, self.touched, self.device, done

    def meet(self, other: State, *, ranked: bool = False) -> State:
        """The state where two paths come together. Variables bound on one path only are kept.

        `ranked` says that each path is taken by other replicas.
        """
        env, others = self.env, other.env
        rebound, added = changes(env, others)
        for name in rebound:
            joined = join(env[name], others[name])
            env[name] = per_replica(joined) if ranked else joined
        env.update((name, others[name]) for name in added)
        self.merge_course(other)
        return self

    def take_course(self, other: State) -> None:
        """Go on from where another frame's path ended; variables, guards and the grad mode stay."""
        self.epochs, self.cut, self.materialised = other.epochs, other.cut, other.materialised
        self.phase, self.work, self.gradients = other.phase, other.work, other.gradients
        self.touched = other.touched

    def merge_course(self, other: State) -> None:
        """Merge all but the variables."""
        self.path_condition &= other.path_condition
        self.touched &= other.touched
        self.epochs |= other.epochs
        if self.cut is not other.cut:
            self.cut = Cut.SOMETIMES
        self.materialised &= other.materialised
        self.phase = self.phase if self.phase is other.phase else None
        self.work |= other.work
        if self.gradients is not other.gradients:
            self.gradients = self.gradients.meet(other.gradients)


def meet_all(states: Iterable[State | None], *, ranked: bool = False) -> State | None:
    """The state where several paths come together; None where none arrives. `ranked`: see `State.meet`."""
    result: State | None = None
    for state in states:
        if state is not None:
            result = state if result is None else result.meet(state, ranked=ranked)
    return result


@dataclass(slots=True)
class Exits:
    """The states in which a loop's body was left early."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Frame:
    """One activation of a function, or a module's top level."""

    env: Environment
    """The variables, while the frame is suspended or done; while it runs the state holds them."""
    outer: Frame | None
    """The frame in which the function was defined."""
    function: Function | None = None
    owner: Class | None = None
    node: nodes.NodeNG | None = None
    module: nodes.Module | None = None
    """The module whose code runs; its facts are in `index`."""
    index: Index | None = None
    depth: int = 0
    """How many loops were around its call."""
    returns: list[tuple[Value, State]] = field(default_factory=list)
    yields: list[tuple[Value, frozenset[int]]] = field(default_factory=list)
    """What it yielded, and the segments that were open then."""
    on_yield: Callable[[Value], None] | None = None
    """What runs at each `yield` of a context manager: the body of the `with` statement."""
    consumer: Loop | None = None
    """The loop that iterates this generator."""
    exits: list[Exits] = field(default_factory=list)
    """How the bodies of the loops around were left so far, the innermost loop's last."""
    bodies: Counter[nodes.NodeNG] = field(default_factory=Counter)
    """How often the body of each `with` statement was run at a `yield` of its context manager."""
    defining: Class | None = None
    """The class whose body runs in it."""
    outside: dict[str, Frame] = field(default_factory=dict)
    """The names declared `global` or `nonlocal`, with the frame that holds each."""


TELLING = ("place", "recorded_in", "kind", "grad", "unstructured", "certain", "length", "sites")
_ABSENT = object()
Changes = dict[tuple[int, Any], tuple[Any, Any, Any]]
"""What one path set: by the slot's identity, `(owner, key, value)`."""


class Heap:
    """Changes to shared objects, journalled so that the paths of a branch can each start from the same heap."""

    def __init__(self) -> None:
        self._journal: list[tuple[Any, Any, Any]] = []
        self.version = 0
        """Counts the changes that made a difference."""

    def put(self, mapping: dict[Any, Value], key: Any, value: Value) -> None:
        """Set an item of a dict that belongs to a shared object."""
        old = mapping.get(key, _ABSENT)
        self._journal.append((mapping, key, old))
        mapping[key] = value
        self.version += not _alike(old, value)

    def assign(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a shared object's own."""
        old = getattr(owner, name)
        self._journal.append((owner, name, old))
        setattr(owner, name, value)
        self.version += not _alike(old, value)

    def kept_tensors(self, mark: int) -> bool:
        """Whether a tensor was stored since `mark`."""
        return any(
            isinstance(value := _get(owner, key), Value) and any(True for _ in tensors_in(value, 2))
            for owner, key, _ in self._journal[mark:]
        )

    def mark(self) -> int:
        """A point to return to."""
        return len(self._journal)

    def take_back(self, mark: int) -> Changes:
        """Undo everything since `mark`, and return what had been set: `(owner, key, value)`."""
        changes: Changes = {}
        while len(self._journal) > mark:
            owner, key, old = self._journal.pop()
            changes.setdefault((id(owner), key), (owner, key, _get(owner, key)))
            _set(owner, key, old)
        return changes

    def merge(self, *paths: Changes, ranked: bool = False) -> None:
        """Set what the paths had set, joined where they differ; `ranked`: see `State.meet`."""
        for where in {where: None for path in paths for where in path}:
            owner, key, _ = next(path[where] for path in paths if where in path)
            current = _get(owner, key)
            values = [path[where][2] if where in path else current for path in paths]
            self._journal.append((owner, key, current))
            joined = _join_slots(values)
            _set(owner, key, per_replica(joined) if ranked and isinstance(joined, Value) else joined)

    def since(self, mark: int) -> list[tuple[Any, Any, Any]]:
        """What was overwritten since `mark`: `(owner, key, old value)`, the oldest first."""
        return [(o, k, None if old is _ABSENT else old) for o, k, old in self._journal[mark:]]


def _alike(old: Any, new: Any) -> bool:
    """Whether setting a slot to what it holds, or to an equal number, changes nothing."""
    if old is new:
        return True
    if isinstance(old, Tensor) and isinstance(new, Tensor):
        return all(getattr(old, name) == getattr(new, name) for name in TELLING)
    if isinstance(old, (Number, Text)) or not isinstance(old, Value):
        return bool(old == new)
    return False


def current(owner: Any, key: Any) -> Any:
    """What a slot of a shared object holds now, None where it is absent."""
    value = _get(owner, key)
    return None if value is _ABSENT else value


def _get(owner: Any, key: Any) -> Any:
    return owner.get(key, _ABSENT) if isinstance(owner, dict) else getattr(owner, key)


def _set(owner: Any, key: Any, value: Any) -> None:
    if not isinstance(owner, dict):
        setattr(owner, key, value)
    elif value is _ABSENT:
        owner.pop(key, None)
    else:
        owner[key] = value


def _join_slots(values: list[Any]) -> Any:
    present = [value for value in values if value is not _ABSENT]
    if not present:
        return _ABSENT
    result = present[0]
    for value in present[1:]:
        if result is value:
            continue
        if isinstance(result, Value) and isinstance(value, Value):
            result = join(result, value)
        elif isinstance(result, list) or isinstance(value, list):
            if not isinstance(result, list) or not isinstance(value, list) or len(result) != len(value):
                return None
            result = [join(a, b) for a, b in zip(result, value, strict=True)]
        elif result != value:
            result = value if result is None else result
    return result
