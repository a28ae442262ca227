"""What a tokenizer call or a collator does about rows of different length.

Signatures and defaults are those of transformers 4.57.6 and 5.24.0.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.fixes.changes import ChangeCall, Fix, Give, Span
from xla_lint.program.domain.values import Sequence, Text
from xla_lint.program.queries import names_in, setting
from xla_lint.rules.arguments import constant, given, is_spelled_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event, LibraryCall
    from xla_lint.program.queries import Program


class Style(enum.Enum):
    """The length to which rows are padded."""

    LONGEST = "the longest row of the batch"
    FIXED = "max_length"
    NONE = "not at all"
    UNKNOWN = "not known"


class Signature(NamedTuple):
    """Where a callable takes its padding arguments; -1: by keyword only, or not at all."""

    padding: int
    truncation: int
    max_length: int
    default: Style


TOKENIZER = "transformers.PreTrainedTokenizer."
TOKENIZERS = {
    TOKENIZER + "__call__": Signature(5, 6, 7, Style.NONE),
    TOKENIZER + "encode": Signature(3, 4, 5, Style.NONE),
    TOKENIZER + "encode_plus": Signature(3, 4, 5, Style.NONE),
    TOKENIZER + "batch_encode_plus": Signature(2, 3, 4, Style.NONE),
}
PAD = TOKENIZER + "pad"
LANGUAGE_MODELING = frozenset(
    f"transformers.DataCollatorFor{task}"
    for task in ("LanguageModeling", "PermutationLanguageModeling", "SOP", "WholeWordMask")
) | {"transformers._torch_collate_batch"}
"""Collators, and the function that they rest on, that take no `padding` and pad to the longest row."""
FLATTENING = "transformers.DataCollatorWithFlattening"
COLLATORS = {
    "transformers.DataCollatorWithPadding": Signature(1, -1, 2, Style.LONGEST),
    "transformers.DataCollatorForTokenClassification": Signature(1, -1, 2, Style.LONGEST),
    "transformers.DataCollatorForSeq2Seq": Signature(2, -1, 3, Style.LONGEST),
    "transformers.DataCollatorForMultipleChoice": Signature(1, -1, 2, Style.LONGEST),
    FLATTENING: Signature(-1, -1, -1, Style.LONGEST),
    **dict.fromkeys(LANGUAGE_MODELING, Signature(-1, -1, -1, Style.LONGEST)),
}
SIGNATURES = {**TOKENIZERS, PAD: Signature(1, -1, 2, Style.LONGEST), **COLLATORS}


class Padding(NamedTuple):
    """How one call pads."""

    style: Style
    truncates: bool
    """False only where longer rows are known to stay longer."""
    length_given: bool
    """False only where neither the call nor the tokenizer is known to set a length."""
    bounded: bool
    """True where lengths are rounded up to a multiple."""


def padding_of(call: LibraryCall) -> Padding | None:
    """How a call pads; None for a call that does not."""
    signature = SIGNATURES.get(call.name)
    if signature is None:
        return None
    return Padding(
        _style(call, signature),
        call.unpacked or _truncates(call, signature),
        call.unpacked or given(call.argument(signature.max_length, "max_length")) or _knows_length(call),
        given(call.kwargs.get("pad_to_multiple_of")),
    )


def _style(call: LibraryCall, signature: Signature) -> Style:
    value = call.argument(signature.padding, "padding")
    if value is None:
        return Style.UNKNOWN if call.unpacked or "pad_to_max_length" in call.kwargs else signature.default
    stated = constant(value)
    if stated is True or stated == "longest":
        return Style.LONGEST
    if stated is False or stated == "do_not_pad":
        return Style.NONE
    return Style.FIXED if stated == "max_length" else Style.UNKNOWN


def _truncates(call: LibraryCall, signature: Signature) -> bool:
    value = call.argument(signature.truncation, "truncation")
    return given(value) and constant(value) not in (False, "do_not_truncate")


def _knows_length(call: LibraryCall) -> bool:
    tokenizer = call.argument(0, "tokenizer") if call.name in COLLATORS else call.receiver
    return given(setting(tokenizer, "model_max_length"))


PAD_TO_ONE = Fix("pad to one length, and truncate what is longer", safe=False)


def padding_to_one(call: LibraryCall, program: Program) -> ChangeCall | None:
    """The arguments with which a call pads all rows to one length; None where the source does not tell that length."""
    padding, signature = padding_of(call), SIGNATURES[call.name]
    if padding is None or signature.padding < 0 or not is_spelled_out(call.node):
        return None
    changes = [] if padding.style is Style.FIXED else [Give("padding", '"max_length"', signature.padding)]
    if not padding.length_given:
        lengths = program.once(lengths_in)
        if len(lengths) != 1:
            return None
        changes.append(Give("max_length", str(*lengths), signature.max_length))
    if call.name in TOKENIZERS and not padding.truncates:
        changes.append(Give("truncation", "True", signature.truncation))
    return ChangeCall(Span.of(call.node), tuple(changes))


def repeated(call: LibraryCall) -> bool:
    """Whether a call is seen to run on many batches: in a loop, or in a function that other code calls again.

    A dataset's `__getitem__` makes one row, which has no other to be padded to.
    """
    return not makes_row(call) and (call.context.callback or bool(call.context.loops))


def makes_row(event: Event) -> bool:
    """Whether something is part of a dataset's `__getitem__`."""
    return any(getattr(scope, "name", "") == "__getitem__" for scope in _scopes(event))


def _scopes(call: Event) -> Iterator[nodes.NodeNG]:
    """The functions in which something happens, and those that led there."""
    around = [call.node, *(site.node for site in call.context.stack if site.node is not None)]
    return (node.scope() for node in around)


def _pads_by_hand(call: LibraryCall) -> bool:
    """Whether the code around a call names something of padding: a row may get its length there."""
    names = (name for scope in _scopes(call) if isinstance(scope, nodes.FunctionDef) for name in names_in(scope))
    return any("pad" in name.lower() for name in names)


def is_prompt(call: LibraryCall) -> bool:
    """Whether a tokenizer call is given texts that stand in the source, and are not rows of a dataset."""
    if makes_row(call):
        return False
    given_text = call.args[0] if call.args else call.kwargs.get("text")
    parts = given_text.items or [] if isinstance(given_text, Sequence) else [given_text]
    return bool(parts) and all(isinstance(part, Text) for part in parts)


def lengths_in(program: Program) -> set[int | float | str | None]:
    """The lengths to which the calls of a program pad or truncate, as far as the source tells them."""
    return {constant(call.kwargs.get("max_length")) for call in program.calls(*SIGNATURES)} - {None}


def _row_calls(program: Program) -> Iterator[tuple[LibraryCall, Padding]]:
    for call in program.calls(*TOKENIZERS):
        padding = padding_of(call) if repeated(call) or makes_row(call) else None
        if padding is not None:
            yield call, padding


def may_have_one_length(program: Program) -> bool:
    """Whether a program tokenizes its rows, and nowhere is seen to leave them at different lengths."""
    styles = [padding.style for _, padding in _row_calls(program)]
    return bool(styles) and Style.LONGEST not in styles and Style.NONE not in styles


def pads_again(program: Program) -> bool:
    """Whether rows that were tokenized before are padded to one length when a batch is put together."""
    later = (call for call in program.calls(PAD, *COLLATORS) if call.name in COLLATORS or repeated(call))
    found = filter(None, map(padding_of, later))
    return any(padding.style is Style.FIXED and padding.length_given for padding in found)


def leaves_rows_ragged(program: Program) -> bool:
    """Whether a program makes rows one by one without padding them to one length.

    Text that is to be cut into blocks of one length is not truncated first, and no row of a dataset.
    """
    return any(
        padding.style is Style.LONGEST
        or (padding.style is Style.NONE and (padding.truncates or (makes_row(call) and not _pads_by_hand(call))))
        for call, padding in _row_calls(program)
        if not call.unpacked and "return_overflowing_tokens" not in call.kwargs
    )
