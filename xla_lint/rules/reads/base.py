"""What the five rules about reads share: each takes the reads of one cost."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from xla_lint.program.domain.events import How, Read
from xla_lint.rules.base import Rule
from xla_lint.rules.reads.adding import SUM_LATER, adding_up
from xla_lint.rules.reads.listing import LIST_LATER, listing
from xla_lint.rules.reads.moving import REPORT_LATER, reading_later
from xla_lint.rules.reads.selection import Cost, cost_of, costliest
from xla_lint.rules.wording import confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.fixes.changes import Change, Fix
    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class ReadRule(Rule):
    """A rule about reads."""

    subscribes = (Read,)
    takes: ClassVar[Cost]
    """The cost of the reads that it reports."""
    how: ClassVar[How | None] = None
    """The way of reading that it reports; None: all."""

    @abstractmethod
    def facts(self, read: Read) -> dict[str, str]:
        """What fills the message template, besides what is read."""

    @cached_property
    def _chosen(self) -> dict[nodes.NodeNG, Read]:
        return costliest(self._reads(), self.program)

    def _reads(self) -> Iterator[Read]:
        """The reads that happen where the rule holds."""
        return (read for read in self.program.of(Read) if self.program.mode_of(read) in self.modes)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report the costliest read of a node, where it is of the cost and the kind that this rule is about."""
        if not isinstance(event, Read) or self._chosen.get(event.node) is not event:
            return
        if cost_of(event, self.program) is self.takes and self.how in (None, event.how):
            sureness = confidence(event.context, event.tensor, on_every_path=event.on_every_path)
            found = self.finding(event.node, sureness, **self.facts(event), **self._subjects(event))
            fix, change = self._repair(event)
            yield found.repaired_by(fix, change) if fix is not None else found

    def _repair(self, event: Read) -> tuple[Fix | None, Change | None]:
        """What is to be done about a read: what surely changes no result first, and of that what leaves no read."""
        summed = adding_up(event) if SUM_LATER in self.fixes else None
        total = summed or (listing(event) if LIST_LATER in self.fixes else None)
        if total is not None and total[0].safe:
            return total
        moved = reading_later(event, self.program) if REPORT_LATER in self.fixes and event.pending else (None, None)
        return moved if total is None or moved[1] is not None else total

    def _subjects(self, event: Read) -> dict[str, str]:
        """What is read there in the same way at the same cost: one f-string may format several tensors."""
        others = (other for other in self.program.at(event.node) if isinstance(other, Read))
        alike = [other for other in others if other.how is event.how and cost_of(other, self.program) is self.takes]
        names = list(dict.fromkeys([event.what, *(other.what for other in alike)]))
        return {"what": "' and '".join(names), "are": "is" if len(names) == 1 else "are"}
