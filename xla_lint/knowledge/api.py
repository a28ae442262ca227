"""Which public names and arguments each release of torch_xla has, and what replaces those that went.

Source: `api.json` names it. The proof tests look every name up in the torch_xla release that they run on.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from xla_lint.knowledge.releases import Release, release
from xla_lint.knowledge.tables import load


class Replacement(NamedTuple):
    """What to write instead, from a release on."""

    since: Release
    spelling: str
    name: str | None = None
    """The dotted name that does the same there, or an argument's name that means the same; None: it is no rename."""
    takes: tuple[tuple[str, str | None], ...] | None = None
    """How the old arguments are called there, in their order; None: the new name has no such argument."""
    value: str | None = None
    """The text that means the same as the argument's value."""


class Life(NamedTuple):
    """From which release on something exists, warns, and is gone."""

    since: Release | None
    """None: no release had it."""
    deprecated: Release | None
    removed: Release | None
    replacements: tuple[Replacement, ...]

    @property
    def ends(self) -> bool:
        """Whether some release warns of it, or lacks what earlier ones had."""
        return self.deprecated is not None or self.removed is not None

    def is_removed(self, target: Release) -> bool:
        """Whether a release lacks what earlier ones had."""
        return self.removed is not None and target >= self.removed

    def is_deprecated(self, target: Release) -> bool:
        """Whether a release still has it, and warns."""
        return self.deprecated is not None and target >= self.deprecated and not self.is_removed(target)

    def exists(self, target: Release) -> bool:
        """Whether a release has it."""
        return self.since is not None and target >= self.since and not self.is_removed(target)

    def replacement(self, target: Release) -> str | None:
        """What a release has instead, None where it has nothing."""
        found = self.replaced_by(target)
        return found.spelling if found is not None else None

    def replaced_by(self, target: Release) -> Replacement | None:
        """The same with what is known of it."""
        found = [item for item in self.replacements if target >= item.since]
        return found[-1] if found else None


class Api(NamedTuple):
    """A module of torch_xla, or a member of one."""

    name: str
    """The dotted name by which it is public."""
    is_module: bool
    life: Life


class Argument(NamedTuple):
    """An argument of a function, in all its uses or with some values only."""

    call: str
    """The dotted name of what is called."""
    name: str
    position: int | None
    """The position at which a text stands for it."""
    values: frozenset[str]
    """The values that are meant; empty: any."""
    life: Life


def _life(row: dict[str, Any]) -> Life:
    def when(key: str) -> Release | None:
        return release(row[key]) if key in row else None

    def replacement(use: dict[str, Any]) -> Replacement:
        takes = tuple(use["takes"].items()) if "takes" in use else None
        return Replacement(release(use["since"]), use["spelling"], use.get("name"), takes, use.get("value"))

    uses = tuple(map(replacement, row.get("use", [])))
    return Life(when("since"), when("deprecated"), when("removed"), uses)


@functools.cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = load("api")
    return table


@functools.cache
def names() -> dict[str, Api]:
    """Every known name of torch_xla, by dotted name."""
    return {row["name"]: Api(row["name"], row.get("module", False), _life(row)) for row in _table()["names"]}


@functools.cache
def arguments() -> dict[str, tuple[Argument, ...]]:
    """The arguments that came to be deprecated or removed, by the dotted name of what is called."""
    found: dict[str, list[Argument]] = {}
    for row in _table()["arguments"]:
        values = frozenset(row.get("values", []))
        argument = Argument(row["call"], row["argument"], row.get("position"), values, _life(row))
        found.setdefault(argument.call, []).append(argument)
    return {call: tuple(items) for call, items in found.items()}


def find(dotted: str) -> Api | None:
    """What a dotted name stands for: the name itself, or the module that holds it if the table lists that module alone.

    A member of a module that is still in use is None unless the table lists it.
    """
    table = names()
    if dotted in table:
        return table[dotted]
    module = dotted
    while "." in module:
        module = module.rpartition(".")[0]
        if module in table:
            api = table[module]
            return api if api.is_module and api.life.ends else None
    return None


def exists(dotted: str, target: Release) -> bool | None:
    """Whether a release has a name; None where the table does not tell."""
    api = names().get(dotted)
    if api is not None:
        return api.life.exists(target)
    holder = find(dotted)
    return False if holder is not None and holder.life.is_removed(target) else None
