"""What a rule is: a symbol, a message, a page, and a predicate over events."""

from __future__ import annotations

import enum
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from xla_lint.fixes.changes import Repair
from xla_lint.program.backend.backend import Mode
from xla_lint.program.domain.events import Event
from xla_lint.program.queries import Domain

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.fixes.changes import Change, Fix
    from xla_lint.program.backend.backend import Property, Role
    from xla_lint.program.queries import Program


EVERYWHERE = frozenset(Mode)
OUTSIDE_COMPILED = EVERYWHERE - {Mode.COMPILED}
GATHERED = frozenset({Mode.LAZY, Mode.FUSED})
"""The modes in which operations are gathered before they run."""


class Confidence(enum.Enum):
    """How sure a finding is; the names are pylint's."""

    HIGH = "HIGH"
    """Every link of the chain of evidence is certain, how often it happens among them."""
    CONTROL_FLOW = "CONTROL_FLOW"
    """Another path through the code may avoid it."""
    INFERENCE = "INFERENCE"
    """A link is a convention: `model(...)` gives a tensor."""

    @classmethod
    def of(cls, certain: bool) -> Confidence:
        """`HIGH` where every link is certain, `INFERENCE` where one is a convention."""
        return cls.HIGH if certain else cls.INFERENCE


class Severity(enum.Enum):
    """How bad a finding is; the value is pylint's message category."""

    ERROR = "E"
    """Wrong result, hang or crash."""
    WARNING = "W"
    """A measured cost every step, or a trap."""
    REFACTOR = "R"
    """A milder cost, or a cost now and then."""
    ADVICE = "I"
    """Off unless its symbol is enabled."""


class Counter(enum.Enum):
    """A counter of the runtime that a bad fixture moves more than its good twin."""

    COMPILES = "compiles"
    EXECUTIONS = "executions"
    READS = "reads"


class Link(NamedTuple):
    """A link of the evidence for a finding: what is known of a place."""

    node: nodes.NodeNG
    says: str
    line: int = 0
    """The line, where the node is the module that holds it; 0: that of the node."""


class Finding(NamedTuple):
    """One message at one node."""

    rule: type[Rule]
    node: nodes.NodeNG
    facts: dict[str, str]
    """What fills the rule's message template."""
    confidence: Confidence = Confidence.HIGH
    cost_shows_at: tuple[nodes.NodeNG, ...] = ()
    """Where a run shows what it costs; empty where that is the node itself."""
    repair: Repair | None = None
    """What a fix of the rule does about it."""
    via: str = ""
    """The XLA program that the module is part of, where its own imports do not tell; with a leading space."""
    evidence: tuple[Link, ...] = ()
    """Why it holds."""
    event: Event | None = None
    """What it was found by: where that happens, in which loops and through which calls."""

    @property
    def message(self) -> str:
        """The message as the user reads it."""
        return self.rule.message % self.facts + self.via

    def costing_at(self, nodes: Iterable[nodes.NodeNG]) -> Finding:
        """The same finding, whose cost a run shows at other nodes."""
        return self._replace(cost_shows_at=tuple(nodes))

    def repaired_by(self, fix: Fix, *changes: Change | None) -> Finding:
        """The same finding, which one of its rule's fixes repairs by some changes; by none where one is missing."""
        known = tuple(change for change in changes if change is not None)
        return self._replace(repair=Repair(fix, known)) if known and len(known) == len(changes) else self


class Rule(ABC):
    """One rule. Its docstring is its documentation page, under the headings listed in `HEADINGS`."""

    symbol: ClassVar[str]
    number: ClassVar[str]
    """Four digits, unique; pylint's message id is the severity's letter and this number."""
    severity: ClassVar[Severity]
    message: ClassVar[str]
    """A %-template with named fields, filled from a finding's facts."""
    subscribes: ClassVar[tuple[type[Event], ...]]
    """The kinds of event that `check` is called with."""
    costs: ClassVar[tuple[Counter, ...]] = ()
    """What the bad fixtures cost more than the good ones when they run; empty where no run can show it."""
    needs: ClassVar[tuple[Role | Property, ...]] = ()
    """What a backend must have, or be, for the rule to concern its programs: a rule about barriers needs barriers."""
    modes: ClassVar[frozenset[Mode]] = frozenset({Mode.LAZY})
    """The modes of a backend in which what the rule says holds; what was measured in one is not claimed of others."""
    fixes: ClassVar[tuple[Fix, ...]] = ()
    """What can be done about its findings by `xla-lint fix`, and by editors."""
    domain: ClassVar[Domain] = Domain.XLA
    """The kind of programs that the rule checks besides XLA programs."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @abstractmethod
    def check(self, event: Event) -> Iterator[Finding]:
        """Yield the findings that an event gives rise to."""

    @classmethod
    def is_of_interest(cls, call: str) -> bool:  # noqa: ARG003 - what rules choose by
        """Whether `check` gets library calls of this dotted name. By default it gets all of them.

        The answer depends on the name alone: it is asked once for each.
        """
        return True

    def finding(self, node: nodes.NodeNG, confidence: Confidence = Confidence.HIGH, **facts: str) -> Finding:
        """A finding of this rule."""
        return Finding(type(self), node, facts, confidence)

    @classmethod
    def code(cls) -> str:
        """pylint's message id, say `W9701`."""
        return cls.severity.value + cls.number

    @classmethod
    def page(cls) -> str:
        """The rule's docstring, dedented: Markdown under the headings of `HEADINGS`."""
        return inspect.cleandoc(cls.__doc__ or "")


HEADINGS = ("What it does", "Why it matters", "What to write instead", "When it is fine")
"""The headings that every rule's docstring has, in this order, after its one-line summary."""
ELSEWHERE = "On TorchTPU and TorchNeuron"
"""The heading that follows where a rule says something else of backends whose operations start by themselves."""
