"""What handlers ask of each other through the machine: each operation is told in one module of the interpreter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from astroid import nodes

    from xla_lint.program.domain.contexts import CallSite
    from xla_lint.program.domain.definitions import Function, Imported
    from xla_lint.program.domain.events import How
    from xla_lint.program.domain.loaders import Logger
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.state import Frame
    from xla_lint.program.domain.values import Instance, Sequence, Value
    from xla_lint.program.machine.arguments import Arguments


class Operations(ABC):
    """The operations of the contract, by name."""

    @abstractmethod
    def binary(self, node: nodes.NodeNG, op: str, left: Value, right: Value) -> Value:
        """The result of a binary operator."""

    @abstractmethod
    def method(self, receiver: Value, name: str, arguments: Arguments) -> Value:
        """The result of calling a method of a value that is not of the project."""

    @abstractmethod
    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """Set an attribute of an object."""

    @abstractmethod
    def rebind(self, target: nodes.NodeNG | None, old: Value, new: Value) -> None:
        """Let a name that holds a value hold another one."""

    @abstractmethod
    def extend(self, receiver: Sequence, value: Value, node: nodes.NodeNG) -> None:
        """Add another value's items to a list."""

    @abstractmethod
    def call_function(self, function: Function, arguments: Arguments) -> Value:
        """The result of calling a function of the project."""

    @abstractmethod
    def run_function(self, function: Function, bound: dict[str, Value], node: nodes.NodeNG) -> Value:
        """Run a function's body with its parameters bound, or remember what it did."""

    @abstractmethod
    def activate(
        self,
        function: Function,
        bound: dict[str, Value],
        call: CallSite | None = None,
        on_yield: Callable[[Value], None] | None = None,
        consumer: Loop | None = None,
    ) -> tuple[Value, Frame]:
        """Run a function's body; what it returns, and its frame with what it yielded."""

    @abstractmethod
    def call_instance(self, instance: Instance, arguments: Arguments) -> Value:
        """The result of calling an object: a model's `forward`, or `__call__`."""

    @abstractmethod
    def hand_over(self, arguments: Arguments) -> None:
        """Let code that cannot be seen call the functions that it is given, again and again."""

    @abstractmethod
    def run_hook(self, function: Function, given: list[Value], node: nodes.NodeNG) -> None:
        """Run a function that a model calls with these values whenever it runs."""

    @abstractmethod
    def enter(self, manager: Value, body: Callable[[Value], None], node: nodes.NodeNG) -> None:
        """Run the body of a `with` statement inside its context manager."""

    @abstractmethod
    def find_imported(self, value: Imported) -> Value:
        """What an import of the project's own stands for."""

    @abstractmethod
    def read(
        self,
        node: nodes.NodeNG,
        subject: nodes.NodeNG | None,
        value: Value,
        how: How,
        spelled: str,
        *,
        materialises: bool = False,
        logger: Logger | None = None,
        level: int = 0,
    ) -> bool:
        """Let the host ask for a value; True where a device tensor was read."""

    @abstractmethod
    def read_each(
        self,
        arguments: Arguments,
        how: How,
        spelled: str,
        *,
        first: int = 0,
        materialises: bool = False,
        logger: Logger | None = None,
        level: int = 0,
    ) -> bool:
        """Let the host ask for every positional argument from `first` on; True where a device tensor was read."""
