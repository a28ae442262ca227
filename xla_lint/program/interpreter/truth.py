"""What a test tells: which branch runs for sure, which conditions hold in each, and what is known of names there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.definitions import Method
from xla_lint.program.domain.values import (
    FACT,
    NO_TENSOR,
    NO_TRAITS,
    UNKNOWN,
    Name,
    Number,
    Text,
    Trait,
    options,
)
from xla_lint.program.syntax.imports import is_none_constant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.program.domain.values import Value
    from xla_lint.program.interpreter.narrowing import Narrowings


@dataclass(slots=True)
class Truth:
    """What a test tells: which branch runs for sure, and which conditions hold in each."""

    known: bool | None = None
    if_true: set[Condition] = field(default_factory=set)
    if_false: set[Condition] = field(default_factory=set)
    narrow_true: Narrowings = field(default_factory=list)
    """What is known of names where the test holds."""
    narrow_false: Narrowings = field(default_factory=list)
    usual: bool | None = None
    """The answer where it is that of a default which no call in sight changes."""

    stated: bool = False
    """Whether the answer follows from the backend that the program runs on."""

    @property
    def ranked(self) -> bool:
        """Whether the answer differs between replicas."""
        return Condition.RANK in self.if_true or Condition.RANK in self.if_false

    @property
    def is_setting(self) -> bool:
        """Whether a flag answers of which nothing more is known."""
        return self.if_true == self.if_false == SET

    @property
    def apart(self) -> frozenset[Trait]:
        """The traits of a number that is another one on each side of the test, where replicas may differ."""
        return parting(self.if_true | self.if_false)

    def negated(self) -> Truth:
        """The truth of `not test`."""
        known = None if self.known is None else not self.known
        usual = None if self.usual is None else not self.usual
        return Truth(known, self.if_false, self.if_true, self.narrow_false, self.narrow_true, usual)


SET = {Condition.SETTING}
PARTING = {Condition.RANK: Trait.RANK, Condition.DATA: Trait.DATA}
"""The conditions that hold on some replicas and not on others, and how a number is marked that does so."""


def parting(conditions: Iterable[Condition]) -> frozenset[Trait]:
    """How a number is marked that is another one where these conditions hold."""
    return frozenset(PARTING[condition] for condition in conditions if condition in PARTING)


def truth_of_number(value: Value) -> Truth:
    """What a number's truth tells."""
    if not isinstance(value, Number):
        return Truth()
    truth = Truth(None if value.const is None else bool(value.const))
    traits = value.traits
    if not traits:
        return truth
    if Trait.DEFAULT in traits:
        truth.known, truth.usual = None, truth.known
    now_and_then = {Condition.PERIODIC, Condition.ONCE} if Trait.ONCE in traits else {Condition.PERIODIC}
    if Trait.RARE in traits:
        truth.if_true |= now_and_then
    if Trait.COMMON in traits or Trait.COUNTED in traits:
        truth.if_false |= now_and_then
    for trait, condition in (
        (Trait.RANK, Condition.RANK),
        (Trait.DATA, Condition.DATA),
        (Trait.RANDOM, Condition.RANDOM),
    ):
        if trait in traits:
            truth.if_true.add(condition)
            truth.if_false.add(condition)
    return truth


def number_of(truth: Truth) -> Number:
    """The boolean that a truth is, so that `flag = test` decides as `test` does."""
    traits: set[Trait] = set()
    if Condition.PERIODIC in truth.if_true:
        traits.add(Trait.RARE)
    if Condition.PERIODIC in truth.if_false:
        traits.add(Trait.COMMON)
    both = truth.if_true | truth.if_false
    for trait, condition in (
        (Trait.ONCE, Condition.ONCE),
        (Trait.RANK, Condition.RANK),
        (Trait.DATA, Condition.DATA),
        (Trait.RANDOM, Condition.RANDOM),
    ):
        if condition in both:
            traits.add(trait)
    if truth.known is None and truth.usual is not None:
        return Number(truth.usual, traits=frozenset(traits) | {Trait.DEFAULT})
    return Number(truth.known, traits=frozenset(traits) | (FACT if truth.known is not None else NO_TRAITS))


def all_of(answers: list[bool | None]) -> bool | None:
    """Whether all of several answers are yes; None where that is not known."""
    return False if False in answers else None if None in answers else True


def combine(op: str, truths: list[Truth]) -> Truth:
    """The truth of several tests joined by `and` or `or`; `flag or step % 10 == 0` asks for every tenth step."""
    if op == "or":
        return combine("and", [truth.negated() for truth in truths]).negated()
    known = all_of([truth.known for truth in truths])
    usual = all_of([truth.usual if truth.known is None else truth.known for truth in truths])
    undecided = [truth for truth in truths if truth.known is not True] or truths
    either_way = {Condition.RANK, Condition.DATA, Condition.RANDOM, Condition.SETTING}
    if_false = set.intersection(*(truth.if_false for truth in undecided))
    if_false |= {condition for truth in undecided for condition in truth.if_false & either_way}
    told = [truth for truth in undecided if not truth.is_setting]
    if told and all(Condition.PERIODIC in truth.if_false for truth in told):
        if_false.add(Condition.PERIODIC)
    return Truth(
        known,
        {condition for truth in truths for condition in truth.if_true},
        if_false,
        [fact for truth in truths for fact in truth.narrow_true],
        undecided[0].narrow_false if len(undecided) == 1 else [],
        usual if known is None else None,
    )


def is_structural(node: nodes.Compare, value: Value) -> bool:
    """True for a test whose answer no default and no flag on the command line changes: identity, or the device."""
    fact = isinstance(value, Number) and Trait.FACT in value.traits
    return fact or (len(node.ops) == 1 and node.ops[0][0] in ("is", "is not"))


def is_setting(node: nodes.NodeNG, value: Value) -> bool:
    """True for a test of which nothing is known: a flag, an option, a name."""
    if isinstance(node, nodes.Compare) and (
        (isinstance(node.left, nodes.Name) and node.left.name == "__name__")
        or any(is_none_constant(right) for _, right in node.ops)
    ):
        return False
    if isinstance(value, Number):
        return not value.loops and not value.traits - {Trait.DEFAULT}
    return all(
        option in (UNKNOWN, NO_TENSOR) or isinstance(option, (Text, Number, Name, Method)) for option in options(value)
    )
