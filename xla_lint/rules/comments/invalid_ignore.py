"""`xla-invalid-ignore`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Mode
from xla_lint.program.domain.comments import IgnoreComment
from xla_lint.rules import all_rules, symbol_of
from xla_lint.rules.base import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class InvalidIgnore(Rule):
    """A comment is meant to leave out findings, and does not.

    ## What it does
    Finds comments that speak to the linter and are not understood: `# xla-lint: ignore[...]` with a name that no rule
    has, without brackets, with a word such as `disable`, or spelled otherwise (`#xlalint: ignore[...]`).

    ## Why it matters
    The finding is reported all the same, or the comment silences nothing that anybody knows of.

    ## What to write instead
    The symbol of the rule in square brackets, several with commas, and why:

    ```python
    total += loss.item()  # xla-lint: ignore[xla-value-read] one read an epoch is meant
    ```

    ## When it is fine
    Prose is left alone: `# xla-lint: see the guide` asks for nothing.
    """

    symbol = "xla-invalid-ignore"
    number = "9798"
    severity = Severity.WARNING
    message = "this comment %(problem)s"
    subscribes = (IgnoreComment,)
    modes = frozenset(Mode)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what is not understood, and names that no rule has."""
        if not isinstance(event, IgnoreComment):
            return
        if event.text.problem:
            yield self.finding(event.node, problem=event.text.problem)
        for name in event.text.names:
            if symbol_of(name) is None:
                import difflib  # noqa: PLC0415 - only a mistake needs it

                close = difflib.get_close_matches(name, [rule.symbol for rule in all_rules()], 1)
                hint = f"did you mean {close[0]}?" if close else "'xla-lint explain' lists them"
                yield self.finding(event.node, problem=f"names '{name}', which is no rule; {hint}")
