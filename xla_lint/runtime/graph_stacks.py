"""The Python stacks that XLA keeps for the operations of a graph, in its dump as a protocol buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.runtime.places import Frame
from xla_lint.runtime.protobuf import WireError, fields, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

Stack = tuple[Frame, ...]
"""Innermost first."""

DUMP_MODULE = 1
MODULE_COMPUTATIONS, MODULE_STACKS = 3, 17
COMPUTATION_OPERATIONS = 2
OPERATION_NAME, OPERATION_METADATA = 1, 7
METADATA_STACK = 15
FILES, FUNCTIONS, LOCATIONS, STACKS = 1, 2, 3, 4
LOCATION_FILE, LOCATION_FUNCTION, LOCATION_LINE = 1, 2, 3
STACK_LOCATION, STACK_AROUND = 1, 2
"""Fields of xla/service/hlo.proto and xla_data.proto: HloProto, HloModuleProto, HloComputationProto,
HloInstructionProto, OpMetadata, StackFrameIndexProto and its FileLocation and StackFrame."""


def stacks_of(dump: bytes, folder: str = "") -> dict[str, Stack]:
    """The stack of each operation that has one, by the operation's name; nothing where the dump cannot be read.

    `folder` is where the process began: names of files may count from there.
    """
    try:
        names, index = _operations(dump, folder)
        return {name: stack for name, number in names.items() if (stack := index.stack(number))}
    except (WireError, IndexError, KeyError):
        return {}


class _Index:
    """What a dump numbers: files, functions, places in them, and stacks as places with the stack around each."""

    def __init__(self, message: bytes, folder: str) -> None:
        self._folder = folder
        files, functions, locations, stacks = (
            list(_messages(message, number)) for number in (FILES, FUNCTIONS, LOCATIONS, STACKS)
        )
        self._files = [each.decode(errors="surrogateescape") for each in files]
        self._functions = [each.decode(errors="surrogateescape") for each in functions]
        self._locations = [numbers(each) for each in locations]
        self._stacks = [numbers(each) for each in stacks]
        self._known: dict[int, Stack] = {0: ()}

    def stack(self, number: int) -> Stack:
        """The stack of this number; they count from 1."""
        pending = []
        while number not in self._known and 0 < number <= len(self._stacks):
            pending.append(number)
            number = self._stacks[number - 1].get(STACK_AROUND, 0)
        stack = self._known.get(number, ())
        for each in reversed(pending):
            stack = (self._frame(self._stacks[each - 1].get(STACK_LOCATION, 0)), *stack)
            self._known[each] = stack
        return stack

    def _frame(self, number: int) -> Frame:
        location = self._locations[number - 1]
        file, function = self._files[location[LOCATION_FILE] - 1], self._functions[location[LOCATION_FUNCTION] - 1]
        return Frame(file, location.get(LOCATION_LINE, 0), function).below(self._folder)


def _operations(dump: bytes, folder: str) -> tuple[dict[str, int], _Index]:
    names: dict[str, int] = {}
    module = next(_messages(dump, DUMP_MODULE), b"")
    for computation in _messages(module, MODULE_COMPUTATIONS):
        for operation in _messages(computation, COMPUTATION_OPERATIONS):
            name, stack = "", 0
            for number, value in fields(operation):
                if number == OPERATION_NAME and isinstance(value, bytes):
                    name = value.decode(errors="replace")
                elif number == OPERATION_METADATA and isinstance(value, bytes):
                    stack = _stack_number(value)
            if stack:
                names[name] = stack
    return names, _Index(next(_messages(module, MODULE_STACKS), b""), folder)


def _stack_number(metadata: bytes) -> int:
    return next((value for number, value in fields(metadata) if number == METADATA_STACK and isinstance(value, int)), 0)


def _messages(message: bytes, wanted: int) -> Iterator[bytes]:
    for number, value in fields(message):
        if number == wanted and isinstance(value, bytes):
            yield value
