"""What the server and its worker tell each other: plain data, which both pickle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from xla_lint.cli.results import Fix, Located
    from xla_lint.places import Extent
    from xla_lint.server.rule_pages import RulePage


@dataclass(frozen=True, slots=True)
class Held:
    """A file is open in the editor, with this text."""

    path: Path
    text: str
    version: int
    is_checked: bool = True
    """False where its check has crashed: it then only stands for its file in the programs of others."""


@dataclass(frozen=True, slots=True)
class Released:
    """A file is open no longer: it holds what it does on disk."""

    path: Path


@dataclass(frozen=True, slots=True)
class Changed:
    """Files have changed on disk, have come or are gone."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class AllChanged:
    """Any files may have changed on disk."""


@dataclass(frozen=True, slots=True)
class FixesWanted:
    """The editor asks what can be done about findings of an open file."""

    request: int
    path: Path
    version: int
    places: frozenset[tuple[str, Extent]] = frozenset()
    """The findings: their symbols and places."""
    everything: bool = False
    """Whether all safe fixes are asked for instead, at once."""


ToWorker = Held | Released | Changed | AllChanged | FixesWanted


@dataclass(frozen=True, slots=True)
class Begun:
    """The check of a file begins."""

    path: Path


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in a file."""

    path: Path
    version: int
    """The version of the text that was checked."""
    findings: list[Located] = field(default_factory=list)
    """Those that the user chose to have reported."""
    pages: dict[str, RulePage] = field(default_factory=dict)
    """What is to be said of the rules that found them."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that the user should know."""

    text: str
    is_error: bool = False
    """Whether the user has to do something about it."""


@dataclass(frozen=True, slots=True)
class FixesFound:
    """What can be done."""

    request: int
    singly: list[tuple[Located, Fix]] = field(default_factory=list)
    together: Fix | None = None


FromWorker = Begun | Checked | Told | FixesFound
