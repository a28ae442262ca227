"""`xla-incomplete-padding`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LibraryCall
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity
from xla_lint.rules.shapes.padding import (
    COLLATORS,
    PAD_TO_ONE,
    SIGNATURES,
    TOKENIZERS,
    Style,
    is_prompt,
    padding_of,
    padding_to_one,
    repeated,
)
from xla_lint.rules.wording import where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class IncompletePadding(Rule):
    """`padding="max_length"` without all that makes it give one length.

    ## What it does
    Finds tokenizer calls with `padding="max_length"` that do not truncate, and tokenizer calls, `tokenizer.pad` and
    collators with `padding="max_length"` but no `max_length=`, where the tokenizer's own `model_max_length` is not
    known to be set. The finding stands at the call.

    ## Why it matters
    Rows longer than `max_length` are left as they are unless they are truncated. Without `max_length=` the
    tokenizer's `model_max_length` is used. Where the checkpoint does not set it, a tokenizer call pads nothing, with
    no more than a log message, and a collator raises a ValueError. Either way the rows keep their own lengths, and
    each new length compiles the step again.

    ## What to write instead
    Say all three:

    ```python
    tokenizer(rows["text"], padding="max_length", max_length=128, truncation=True)
    ```

    ## When it is fine
    For a prompt that stands in the source. Where the checkpoint sets `model_max_length` and no row is longer; pass
    `model_max_length=` to `from_pretrained` to make the first part certain.
    """

    symbol = "xla-incomplete-padding"
    number = "9722"
    severity = Severity.WARNING
    message = 'padding="max_length" may not give one length%(where)s: %(problem)s; add %(missing)s'
    subscribes = (LibraryCall,)
    modes = EVERYWHERE
    fixes = (PAD_TO_ONE,)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Whatever pads."""
        return call in SIGNATURES

    def check(self, event: Event) -> Iterator[Finding]:
        """Report padding to a length that is not enforced or not set."""
        if not isinstance(event, LibraryCall):
            return
        padding = padding_of(event)
        if padding is None or padding.style is not Style.FIXED:
            return
        if event.name in TOKENIZERS and not repeated(event) and is_prompt(event):
            return
        problems: list[tuple[str, str]] = []
        if not padding.length_given:
            effect = "a ValueError" if event.name in COLLATORS else "no padding at all"
            problems.append((f"a tokenizer without model_max_length means {effect}", "max_length=N"))
        if not padding.truncates and event.name in TOKENIZERS:
            problems.append(("longer rows stay longer", "truncation=True"))
        if problems:
            finding = self.finding(
                event.node,
                Confidence.INFERENCE,
                where=where(event.context),
                problem=", and ".join(problem for problem, _ in problems),
                missing=" and ".join(missing for _, missing in problems),
            )
            yield finding.repaired_by(PAD_TO_ONE, padding_to_one(event, self.program))
