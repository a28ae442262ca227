"""Changes to shared objects, journalled so that the paths of a branch can each start from the same heap."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from xla_lint.program.domain.fields import Role
from xla_lint.program.domain.join import alike, join, per_replica
from xla_lint.program.domain.values import NO_TRAITS, Location, Trait, Value
from xla_lint.program.domain.walk import tensors_in

if TYPE_CHECKING:
    from astroid import nodes

_ABSENT = object()
Changes = dict[tuple[int, Any], tuple[Any, Any, Any]]
"""What one path set: by the slot's identity, `(owner, key, value)`."""


class Heap:
    """What shared objects hold, and what was changed in which order."""

    def __init__(self) -> None:
        self._journal: list[tuple[Any, Any, Any, int]] = []
        self.version = 0
        """A number for what the heap holds: two heaps of one version can make no difference to what is done."""
        self._newest = 0
        self._summaries: dict[Value, tuple[int, Value]] = {}
        self.built: dict[nodes.NodeNG, Value] = {}
        """What was made of each class on which a framework may call methods, and of those derived from it."""
        self.recorded: set[int] = set()
        """The graph epochs in which tensors were recorded that some object has held."""

    def put(self, mapping: dict[Any, Value], key: Any, value: Value) -> None:
        """Set an item of a dict that belongs to a shared object."""
        self._change(mapping, key, mapping.get(key, _ABSENT), value)

    def assign(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a shared object's own."""
        self._change(owner, name, getattr(owner, name), value)

    def _change(self, owner: Any, key: Any, old: Any, new: Any) -> None:
        self._journal.append((owner, key, old, self.version))
        _set(owner, key, new)
        if not _alike(old, new):
            self._newest += 1
            self.version = self._newest
        self.note(new)

    def note(self, value: Any) -> None:
        """Note that something holds a value which what is called can see."""
        if isinstance(value, Value):
            self.recorded.update(tensor.recorded_in for tensor in tensors_in(value, 2))

    def summary(self, owner: Value, compute: Callable[[], Value]) -> Value:
        """What follows from an object's contents, computed anew only where something was changed since."""
        known = self._summaries.get(owner)
        if known is None or known[0] != self.version:
            known = self._summaries[owner] = (self.version, compute())
        return known[1]

    def kept_tensors(self, mark: int) -> bool:
        """Whether a tensor was stored since `mark`."""
        return any(
            isinstance(value := _get(owner, key), Value) and any(True for _ in tensors_in(value, 2))
            for owner, key, _, _ in islice(self._journal, mark, None)
        )

    def mark(self) -> int:
        """A point to return to."""
        return len(self._journal)

    def take_back(self, mark: int) -> Changes:
        """Undo everything since `mark`, and return what had been set, what was set first before the rest."""
        if len(self._journal) == mark:
            return {}
        undone: Changes = {}
        while len(self._journal) > mark:
            owner, key, old, self.version = self._journal.pop()
            where = (id(owner), key)
            undone[where] = undone.pop(where) if where in undone else (owner, key, _get(owner, key))
            _set(owner, key, old)
        return dict(reversed(undone.items()))

    def merge(self, *paths: Changes, apart: frozenset[Trait] = NO_TRAITS) -> None:
        """Set what the paths had set, joined where they differ; `apart`: see `State.meet`."""
        if not any(paths):
            return
        for where in {where: None for path in paths for where in path}:
            owner, key, _ = next(path[where] for path in paths if where in path)
            now = _get(owner, key)
            values = [path[where][2] if where in path else now for path in paths]
            joined = _joined(owner, key, values)
            known = [value for value in values if isinstance(value, Value)] if apart else []
            self._change(owner, key, now, per_replica(joined, known, apart) if known else joined)

    def since(self, mark: int) -> list[tuple[Any, Any, Any]]:
        """What was overwritten since `mark`: `(owner, key, old value)`, the oldest first."""
        changes = islice(self._journal, mark, None)
        return [(owner, key, None if old is _ABSENT else old) for owner, key, old, _ in changes]


def _alike(old: Any, new: Any) -> bool:
    """Whether setting a slot to what it holds, or to what cannot be told from it, changes nothing."""
    if isinstance(old, Value) and isinstance(new, Value):
        return alike(old, new)
    return bool(old == new)


def current(owner: Any, key: Any) -> Any:
    """What a slot of a shared object holds now, None where it is absent."""
    value = _get(owner, key)
    return None if value is _ABSENT else value


def _get(owner: Any, key: Any) -> Any:
    return owner.get(key, _ABSENT) if isinstance(owner, dict) else getattr(owner, key)


def _set(owner: Any, key: Any, value: Any) -> None:
    if not isinstance(owner, dict):
        setattr(owner, key, value)
    elif value is _ABSENT:
        owner.pop(key, None)
    else:
        owner[key] = value


def _joined(owner: Any, key: Any, values: list[Any]) -> Any:
    """What a slot holds where paths meet that left these values in it."""
    present = [value for value in values if value is not _ABSENT]
    if not present:
        return _ABSENT
    result = present[0]
    for value in present[1:]:
        if result is not value:
            result = _both(owner, key, result, value)
    return result


def _both(owner: Any, key: Any, a: Any, b: Any) -> Any:
    if isinstance(a, Value) and isinstance(b, Value):
        return join(a, b)
    if isinstance(a, list) or isinstance(b, list):
        if not isinstance(a, list) or not isinstance(b, list) or len(a) != len(b):
            return None
        return [join(x, y) for x, y in zip(a, b, strict=True)]
    if a is None or b is None:
        return a if b is None else b
    if isinstance(a, Location):
        return a if a is b else Location.DEVICE if Location.DEVICE in (a, b) else Location.UNKNOWN
    rule = owner.FIELDS[key]
    return max(a, b) if isinstance(rule, Role) else rule(a, b)
