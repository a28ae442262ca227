"""`xla-dynamic-padding`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import HandPadding, LibraryCall
from xla_lint.program.domain.values import Sequence, Tensor, options
from xla_lint.rules.base import EVERYWHERE, Confidence, Counter, Rule, Severity
from xla_lint.rules.shapes.fitting import FITTING, brought_to_length
from xla_lint.rules.shapes.padding import (
    COLLATORS,
    FLATTENING,
    LANGUAGE_MODELING,
    PAD,
    PAD_TO_ONE,
    SIGNATURES,
    TOKENIZERS,
    Style,
    leaves_rows_ragged,
    makes_row,
    may_have_one_length,
    padding_of,
    padding_to_one,
    pads_again,
    repeated,
)
from xla_lint.rules.wording import NEW_SIZE, called, confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

PAD_SEQUENCE = "torch.nn.utils.rnn.pad_sequence"
FIXED_ROWS = 'padding="max_length", max_length=N, truncation=True'


class DynamicPadding(Rule):
    """Batches are padded to their longest row.

    ## What it does
    Finds tokenizer calls with `padding=True` or `padding="longest"`, `tokenizer.pad` with its default, the
    transformers collators that pad by default, and `pad_sequence`, where they run on many batches: in a loop, in a
    function given to `map` or to a loader, or, for collators, where they are constructed. The finding stands at the
    call.

    A collator is not reported if all the tokenizer calls that the program makes on its rows pad to a fixed length,
    or cannot be told. `DataCollatorForLanguageModeling` and its kin, which take no `padding`, are reported only if rows
    are seen to be tokenized in a dataset's `__getitem__`, or truncated one by one, and not padded: text that is
    concatenated and cut into blocks has one length.

    ## Why it matters
    A graph is compiled for exact shapes. Every new length of a batch compiles the whole step again, and there are as
    many lengths as the data has. `pad_to_multiple_of` bounds their number but does not make it one.
    `DataCollatorForSeq2Seq` pads the labels separately, so that two lengths vary.

    ## What to write instead
    Pad all batches to one length, and truncate what is longer:

    ```python
    tokenizer(rows["text"], padding="max_length", max_length=128, truncation=True)
    DataCollatorWithPadding(tokenizer, padding="max_length", max_length=128)
    ```

    For `pad_sequence` add a filler row of the greatest length and drop it again, or pad the result, or a row, to that
    length with `torch.nn.functional.pad`. A few buckets of fixed length waste less padding, at one compilation each.

    ## When it is fine
    A single prompt outside loops, batches of one row, the parts of one row, rows that have one length already, and rows
    that a collator or `tokenizer.pad` pads to one length when the batch is put together.

    ## On TorchTPU and TorchNeuron
    Each new length compiles anew every operation that it meets (documented by both).
    """

    symbol = "xla-dynamic-padding"
    number = "9721"
    severity = Severity.WARNING
    message = "'%(call)s' %(does)s%(where)s: every new length %(cost)s%(bound)s; %(advice)s"
    subscribes = (LibraryCall, HandPadding)
    modes = EVERYWHERE
    fixes = (PAD_TO_ONE,)
    costs = (Counter.COMPILES,)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Whatever pads."""
        return call == PAD_SEQUENCE or call in SIGNATURES or call in FITTING

    def check(self, event: Event) -> Iterator[Finding]:
        """Report padding to the longest row of a batch."""
        if isinstance(event, HandPadding) and _meets_rows(event):
            yield self.finding(
                event.node,
                confidence(event.context),
                call=event.spelled,
                where=where(event.context),
                does="pads to the longest row of the batch",
                cost=NEW_SIZE[self.program.mode],
                bound="",
                advice="pad to a length that is the same for all batches",
            )
        if not isinstance(event, LibraryCall):
            return
        if event.name == PAD_SEQUENCE:
            repeats = event.context.step is not None or event.context.callback
            if repeats and not _has_filler(event) and not brought_to_length(self.program, event):
                advice = "pad to a fixed length, or add a filler row of the greatest length and drop it again"
                yield self._finding(event, "pads to the longest row of the batch", "", advice)
            return
        padding = padding_of(event)
        if padding is None or padding.style is not Style.LONGEST or not self._ragged(event):
            return
        bound = "; pad_to_multiple_of only bounds their number" if padding.bounded else ""
        does, advice = "pads to the longest row of the batch", f"pad to one length with {FIXED_ROWS}"
        if event.name == FLATTENING:
            does, advice = "concatenates the rows of the batch", f"give all rows one length with {FIXED_ROWS}"
        elif event.name in LANGUAGE_MODELING:
            advice = f"tokenize with {FIXED_ROWS}"
        elif event.name in COLLATORS:
            advice = 'pass padding="max_length", max_length=N, and truncate when tokenizing'
        finding = self._finding(event, does, bound, advice)
        yield finding.repaired_by(PAD_TO_ONE, padding_to_one(event, self.program))

    def _ragged(self, event: LibraryCall) -> bool:
        if event.name in LANGUAGE_MODELING:
            return self._rows_ragged
        if event.name in COLLATORS:
            return not self._rows_even
        if event.name == PAD and self._rows_even:
            return False
        return repeated(event) and not (event.name in TOKENIZERS and self._padded_again)

    @cached_property
    def _padded_again(self) -> bool:
        """Whether the program pads its rows to one length after it has tokenized them."""
        return pads_again(self.program)

    @cached_property
    def _rows_ragged(self) -> bool:
        """Whether the program leaves its rows at different lengths."""
        return leaves_rows_ragged(self.program)

    @cached_property
    def _rows_even(self) -> bool:
        """Whether the program may give its rows one length."""
        return may_have_one_length(self.program)

    def _finding(self, event: LibraryCall, does: str, bound: str, advice: str) -> Finding:
        name = called(event.name)
        sureness = confidence(event.context)
        if (event.name == PAD or event.name in COLLATORS) and not self._rows_ragged:
            sureness = Confidence.INFERENCE
        return self.finding(
            event.node,
            sureness,
            call="tokenizer" if name == "PreTrainedTokenizer" else name,
            where=where(event.context),
            does=does,
            cost=NEW_SIZE[self.program.mode],
            bound=bound,
            advice=advice,
        )


def _meets_rows(padding: HandPadding) -> bool:
    """Whether rows of many batches are padded there: a dataset's `__getitem__` fits together the parts of one row."""
    return (padding.context.step is not None or padding.context.callback) and not makes_row(padding)


def _has_filler(event: LibraryCall) -> bool:
    """Whether a row of known length is among those padded, which is taken for the greatest one."""
    for rows in options(event.args[0]) if event.args else ():
        if isinstance(rows, Sequence):
            values = (*(rows.items or ()), rows.element)
            if any(isinstance(row, Tensor) and row.length is not None for v in values for row in options(v)):
                return True
    return False
