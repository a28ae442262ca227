"""`xla-unused-ignore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Mode
from xla_lint.program.domain.comments import IgnoreComment
from xla_lint.rules.base import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class UnusedIgnore(Rule):
    """A comment leaves out a finding that is not there.

    ## What it does
    Finds comments `# xla-lint: ignore[symbol]` that name a rule which finds nothing in the statement that they are
    for. Rules that are not chosen count as well: a comment is used where its rule would speak.

    ## Why it matters
    The comment is left from code that has changed. It says that something costly happens here, which is not so, and
    the next costly line written there is left out without a word.

    ## What to write instead
    Take the name out of the brackets, or the comment away. Where the finding has moved, move the comment to the
    statement where it now stands: at the end of one of its lines, or on the line above.

    ## When it is fine
    Comments in files that are outside the XLA scope, where no rule was applied, are not reported, nor those of a file
    that could not be analysed to its end.
    """

    symbol = "xla-unused-ignore"
    number = "9797"
    severity = Severity.REFACTOR
    message = "nothing is found here that %(rules)s would report; take %(what)s"
    subscribes = (IgnoreComment,)
    modes = frozenset(Mode)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report the names that leave nothing out."""
        if isinstance(event, IgnoreComment) and event.idle:
            whole = len(event.idle) == len(event.text.names)
            what = "the comment away" if whole else "the name out of the comment"
            yield self.finding(event.node, rules=" or ".join(event.idle), what=what)
