"""What the five rules about reads share: each takes the reads of one cost."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from xla_lint.program.domain.events import How, Read
from xla_lint.rules.base import Rule
from xla_lint.rules.reads.selection import Cost, cost_of, costliest
from xla_lint.rules.wording import confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

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
        """What fills the message template."""

    @cached_property
    def _chosen(self) -> dict[nodes.NodeNG, Read]:
        return costliest(self.program.of(Read))

    def check(self, event: Event) -> Iterator[Finding]:
        """Report the costliest read of a node, where it is of the cost and the kind that this rule is about."""
        if not isinstance(event, Read) or self._chosen[event.node] is not event:
            return
        if cost_of(event) is self.takes and self.how in (None, event.how):
            sureness = confidence(event.context, event.tensor, on_every_path=event.on_every_path)
            yield self.finding(event.node, sureness, **self.facts(event))
