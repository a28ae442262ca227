"""Who knows what a library's functions, objects and context managers mean.

The modules of this package register handlers with the decorators below. A handler is registered for a canonical
dotted name (`xla_lint.program.syntax.names`); a name that ends in a dot stands for all below it, and the longest name
counts. What is no library object, such as a list or a tensor, goes by the class of its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from xla_lint.program.domain.values import Instance, Value

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.definitions import Function
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

H = TypeVar("H", bound=Callable[..., object])
V = TypeVar("V", bound=Value)
Body = Callable[[Value], None]
"""The body of a `with` statement; it is given what `as` binds."""
Key = str | type[Value]
"""A dotted name, or the class of values that are no library objects."""
FunctionHandler = Callable[["Machine", str, "Arguments"], Value]
"""Called with the dotted name that is called; gives the result."""
MethodHandler = Callable[["Machine", V, str, "Arguments"], "Value | None"]
"""Called with the receiver and the method's name; gives the result, None where it has nothing to say."""
AttributeHandler = Callable[["Machine", Instance, str, "nodes.NodeNG"], "Value | None"]
"""Called with the object and the attribute's name; gives its value, None where it has nothing to say."""
IterationHandler = Callable[["Machine", Instance, "Loop | None", "nodes.NodeNG"], "Value | None"]
"""Called with the object and the loop that iterates it; gives what one turn gets, None where it has nothing to say."""
ManagerHandler = Callable[["Machine", V, Body, "nodes.NodeNG"], None]
"""Called with the manager and the body, which it runs once."""
HookHandler = Callable[[str], "tuple[list[Value], dict[str, Value]] | None"]
"""Called with a method's name; gives what the framework calls it with every step, None where it does not."""
ResultHandler = Callable[["Machine", "Function", Value], None]
"""Called with a method that a framework has called, bound to its object, and with what it returned."""
ANY_MODEL = "torch.nn."
"""What holds for the modules of torch holds for any model of which its own library says nothing."""


class DuplicateHandlerError(Exception):
    """Two handlers are registered for the same name."""


class Table(Generic[H]):
    """The handlers of one kind. Each may be limited to some names of members; else it stands for all others."""

    def __init__(self) -> None:
        self.handlers: dict[tuple[Key, str], H] = {}
        """By what it is registered for, and the name of the member (empty: all others)."""
        cached = lru_cache(maxsize=4096)(self._find)
        self.find: Callable[..., H | None] = cached
        """The handler for a name or a class of values, and one of its members; None where nothing is known."""
        self._forget = cached.cache_clear

    def register(self, key: Key, handler: H, member: str = "") -> None:
        """Register a handler.

        Raises:
            DuplicateHandlerError: there is one already.
        """
        earlier = self.handlers.setdefault((key, member), handler)
        if earlier is not handler:
            name = key if isinstance(key, str) else key.__name__
            raise DuplicateHandlerError(f"{name} {member}: {earlier} and {handler}")
        self._forget()

    def remove(self, key: Key, member: str = "") -> None:
        """Forget a handler."""
        del self.handlers[key, member]
        self._forget()

    def _find(self, key: Key, member: str = "") -> H | None:
        keys = names_of(key) if isinstance(key, str) else (key,)
        for each in keys:
            found = self.handlers.get((each, member)) or self.handlers.get((each, ""))
            if found is not None:
                return found
        return None

    def for_object(self, value: Value, member: str = "") -> tuple[H, ...]:
        """The handlers to be asked about a value, one after the other."""
        if not isinstance(value, Instance):
            found = self.find(type(value), member)
            return () if found is None else (found,)
        own = self.find(value.library, member)
        general = self.find(ANY_MODEL, member) if value.model else None
        return tuple(handler for handler in dict.fromkeys((own, general)) if handler is not None)


def names_of(dotted: str) -> list[str]:
    """The names under which a dotted name may be registered, the longest first: `a.b`, `a.`."""
    names = [dotted]
    while "." in dotted:
        dotted = dotted.rpartition(".")[0]
        names.append(dotted + ".")
    return names


FUNCTIONS: Table[FunctionHandler] = Table()
METHODS: Table[MethodHandler[Value]] = Table()
ATTRIBUTES: Table[AttributeHandler] = Table()
ITERATIONS: Table[IterationHandler] = Table()
MANAGERS: Table[ManagerHandler[Value]] = Table()
HOOKS: Table[HookHandler] = Table()
RESULTS: Table[ResultHandler] = Table()


def function(*names: str) -> Callable[[FunctionHandler], FunctionHandler]:
    """Register what calling these functions, or constructing these classes, means."""
    return _for_all(FUNCTIONS, names)


@overload
def methods(of: type[V], *names: str) -> Callable[[MethodHandler[V]], MethodHandler[V]]: ...
@overload
def methods(of: str, *names: str) -> Callable[[MethodHandler[Instance]], MethodHandler[Instance]]: ...
def methods(of: Key, *names: str) -> Callable[[MethodHandler[V]], MethodHandler[V]]:
    """Register what these methods of an object mean; without names, all others.

    The objects are values of a class, or library objects by the dotted name of their class. A class of the project
    counts as the library class that it derives from, and calls its constructor as `__init__`.
    """

    def register(handler: MethodHandler[V]) -> MethodHandler[V]:
        for name in names or ("",):
            METHODS.register(of, handler, name)  # type: ignore[arg-type]
        return handler

    return register


def methods_of_each(of: Iterable[str], *names: str) -> Callable[[MethodHandler[Instance]], MethodHandler[Instance]]:
    """Register what these methods of the objects of several library classes mean; without names, all others."""

    def register(handler: MethodHandler[Instance]) -> MethodHandler[Instance]:
        for each in of:
            methods(each, *names)(handler)
        return handler

    return register


def attributes(*of: str) -> Callable[[AttributeHandler], AttributeHandler]:
    """Register what the attributes of library objects are that the program has not set itself."""
    return _for_all(ATTRIBUTES, of)


def iteration(*of: str) -> Callable[[IterationHandler], IterationHandler]:
    """Register what iterating library objects yields."""
    return _for_all(ITERATIONS, of)


@overload
def manager(*of: str) -> Callable[[ManagerHandler[Instance]], ManagerHandler[Instance]]: ...
@overload
def manager(*of: type[V]) -> Callable[[ManagerHandler[V]], ManagerHandler[V]]: ...
def manager(*of: Key) -> Callable[[ManagerHandler[V]], ManagerHandler[V]]:
    """Register what a `with` statement does under these context managers."""

    def register(handler: ManagerHandler[V]) -> ManagerHandler[V]:
        for key in of:
            MANAGERS.register(key, handler)  # type: ignore[arg-type]
        return handler

    return register


def hooks(*of: str) -> Callable[[HookHandler], HookHandler]:
    """Register what a framework calls the methods of a class with that derives from one of these."""
    return _for_all(HOOKS, of)


def results(of: str, *names: str) -> Callable[[ResultHandler], ResultHandler]:
    """Register what a framework does once these methods of a class that derives from one of its own return."""

    def register(handler: ResultHandler) -> ResultHandler:
        for name in names:
            RESULTS.register(of, handler, name)
        return handler

    return register


def results_of_each(of: Iterable[str], *names: str) -> Callable[[ResultHandler], ResultHandler]:
    """Register what several frameworks do once these methods of a class return."""

    def register(handler: ResultHandler) -> ResultHandler:
        for each in of:
            results(each, *names)(handler)
        return handler

    return register


def _for_all(table: Table[H], names: tuple[str, ...]) -> Callable[[H], H]:
    def register(handler: H) -> H:
        for name in names:
            table.register(name, handler)
        return handler

    return register
