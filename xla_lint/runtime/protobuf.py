"""The wire format of protocol buffers, as far as reading a dump needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""How a field is written."""


class WireError(ValueError):
    """These bytes are no message."""


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in their order: number, and value. Numbers of fixed width stay bytes.

    Raises:
        WireError: it is cut off, or no message.
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield tag >> 3, value
            continue
        if kind == BYTES:
            length, at = _varint(message, at)
        elif kind in {FIXED64, FIXED32}:
            length = 8 if kind == FIXED64 else 4
        else:
            raise WireError(f"a field of kind {kind}")
        if at + length > len(message):
            raise WireError("cut off")
        yield tag >> 3, message[at : at + length]
        at += length


def numbers(message: bytes) -> dict[int, int]:
    """The fields of a message that holds nothing but whole numbers."""
    return {number: value for number, value in fields(message) if isinstance(value, int)}


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message):
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise WireError("cut off")
