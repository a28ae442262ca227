"""What is true at one point of the program: variables, the path condition, and what is pending."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_lint.program.domain.environment import changes
from xla_lint.program.domain.join import join, per_replica
from xla_lint.program.domain.loops import Cut
from xla_lint.program.domain.touches import UNTOUCHED, Touched
from xla_lint.program.domain.values import NO_TRAITS, Trait, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from astroid import nodes

    from xla_lint.program.domain.contexts import Constraint
    from xla_lint.program.domain.definitions import Class, Function
    from xla_lint.program.domain.environment import Environment
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Device, Memories
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
    """The path condition at that barrier."""
    spelled: str = ""
    """How that barrier is spelled."""


class Gradients(NamedTuple):
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
    """The graph epochs that may be open here: what was recorded in one of them is pending."""
    cut: Cut = Cut.NEVER
    """Whether the innermost loop's iteration has passed a barrier."""
    materialised: Memories = frozenset()
    """What was recorded in an open epoch and fetched in a way that materialises it."""
    grad: bool = True
    """False under `no_grad`."""
    phase: Phase | None = None
    work: bool = False
    """Something was recorded since the last barrier."""
    updated: bool = False
    """An optimizer updated parameters on the device since the last barrier."""
    gradients: Gradients = NO_GRADIENTS
    touched: Touched = UNTOUCHED
    """What has initialised the XLA runtime in this process."""
    device: Device | None = None
    """Where a `with` statement puts the tensors that are made inside."""

    def fork(self) -> State:
        """A copy for another path."""
        return self.among(dict(self.env))

    def among(self, env: Environment) -> State:
        """A copy with other variables."""
        return State(
            env, self.path_condition, self.epochs, self.cut, self.materialised, self.grad, self.phase, self.work,
            self.updated, self.gradients, self.touched, self.device,
        )  # fmt: skip

    def course(self) -> tuple[Any, ...]:
        """All but the variables, what is pending, and what may have initialised the runtime, to compare."""
        phase = self.phase
        done = None if phase is None else (phase.done, phase.loop, phase.cut)
        recorded = (self.work, self.updated)
        return (
            self.path_condition,
            self.cut,
            self.grad,
            recorded,
            self.gradients,
            self.touched.always,
            self.device,
            done,
        )

    def meet(self, other: State, *, apart: frozenset[Trait] = NO_TRAITS) -> State:
        """The state where two paths come together. Variables bound on one path only are kept.

        `apart` are the traits of a test that sends other replicas on each path.
        """
        env, others = self.env, other.env
        rebound, added = changes(env, others)
        for name in rebound:
            paths = (env[name], others[name])
            env[name] = per_replica(join(*paths), paths, apart) if apart else join(*paths)
        env.update((name, others[name]) for name in added)
        self.merge_course(other)
        return self

    def take_course(self, other: State) -> None:
        """Go on from where another frame's path ended; variables, the path condition and the grad mode stay."""
        self.epochs, self.cut, self.materialised = other.epochs, other.cut, other.materialised
        self.phase, self.work, self.updated = other.phase, other.work, other.updated
        self.gradients = other.gradients
        self.touched = other.touched

    def merge_course(self, other: State) -> None:
        """Merge all but the variables."""
        self.path_condition &= other.path_condition
        if self.touched is not other.touched:
            self.touched = self.touched.meet(other.touched)
        self.epochs |= other.epochs
        if self.cut is not other.cut:
            self.cut = Cut.SOMETIMES
        self.materialised &= other.materialised
        self.phase = self.phase if self.phase is other.phase else None
        self.work |= other.work
        self.updated |= other.updated
        if self.gradients is not other.gradients:
            self.gradients = self.gradients.meet(other.gradients)


def meet_all(states: Iterable[State | None], *, apart: frozenset[Trait] = NO_TRAITS) -> State | None:
    """The state where several paths come together; None where none arrives. `apart`: see `State.meet`."""
    result: State | None = None
    for state in states:
        if state is not None:
            result = state if result is None else result.meet(state, apart=apart)
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
    """What it yielded, and the graph epochs that were open then."""
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
