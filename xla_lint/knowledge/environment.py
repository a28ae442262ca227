"""Environment variables of torch_xla that do not do what they are set for, by release. Source: `environment.json`."""

from __future__ import annotations

import functools
from typing import NamedTuple

from xla_lint.knowledge.releases import Release, release
from xla_lint.knowledge.tables import load

OFF = frozenset({"", "0", "false", "False"})
"""What turns a switch off, as it is without the variable."""


class Variable(NamedTuple):
    """One variable, or all that begin alike."""

    name: str
    is_prefix: bool
    values: frozenset[str]
    """The values that are meant; empty: any."""
    switch: bool
    """It turns something on; a value of `OFF` asks for nothing."""
    early: bool
    """It must be set before torch_xla is imported."""
    deprecated: Release | None
    ignored: Release | None
    """The first release that does not look at it."""
    instead: str

    def covers(self, name: str, value: str | None) -> bool:
        """Whether setting a variable to a value (None: unknown) is what is meant."""
        named = name.startswith(self.name) if self.is_prefix else name == self.name
        return named and (not self.values or value in self.values) and not (self.switch and value in OFF)


@functools.cache
def variables() -> tuple[Variable, ...]:
    """Every variable of the table."""
    return tuple(
        Variable(
            row.get("name") or row["prefix"],
            "prefix" in row,
            frozenset(row.get("values", [])),
            row.get("switch", False),
            row.get("early", False),
            release(row["deprecated"]) if "deprecated" in row else None,
            release(row["ignored"]) if "ignored" in row else None,
            row.get("use", ""),
        )
        for row in load("environment")["variables"]
    )


def variable(name: str, value: str | None) -> Variable | None:
    """What the table says of setting a variable, None where it says nothing."""
    return next((item for item in variables() if item.covers(name, value)), None)
