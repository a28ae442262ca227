"""What the user may choose to have checked, what a module may take part in, and the releases that projects declare."""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

from xla_lint.program.backend import ASSUMED, OWN_PACKAGES
from xla_lint.program.backend.frameworks import FRAMEWORKS


class Scope(enum.Enum):
    """Which modules are analysed."""

    AUTO = "auto"
    ALL = "all"


class Domain(enum.Enum):
    """What a module may take part in; a rule is for the modules of its domain."""

    XLA = "an XLA program"
    """Every rule is for these."""
    ACCELERATE = "a program of Accelerate, which may run on XLA without naming it"
    SAGEMAKER = "a script that launches training jobs on SageMaker"


class Version(NamedTuple):
    """A release of a backend, or of another library."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read `2.9`, `2.9.0` or `2.9.0+cpu`.

        Raises:
            ValueError: the text is no version.
        """
        match = re.fullmatch(r"v?(\d+)\.(\d+)(?:[.+].*)?", text.strip())
        if not match:
            raise ValueError(f"'{text}' is no {ASSUMED.name} version; write it like 2.9")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


LAST_MINOR = 99
"""Stands for the last minor release of a major one."""
NEWEST = Version(2, 9)
"""The newest release that the knowledge tables describe."""


DECLARATIONS = ("pyproject.toml", "requirements.txt", "setup.cfg", "setup.py")
REQUIREMENT = (
    r"""(?<![\w.-]){package}(?:\[[^\]]*\])?\s*(?P<op>[=~<>!]=?)\s*(?P<major>\d+)(?:\.(?P<minor>\d+)|(?!\.?[\d*]))"""
)
"""A package's name and its first version clause."""
WHEEL = re.compile(rf"{ASSUMED.name}-(\d+)\.(\d+)")
"""The file of a wheel of a backend, with the release."""


def target_version(root: Path | None) -> Version:
    """The release that the files below a project's root declare, else the newest known."""
    return declared_version(root) or NEWEST


def declared_version(root: Path | None) -> Version | None:
    """The release of a backend that a project's dependency declarations pin, if any, at most the newest known.

    Each release of a backend is built for the one of torch with the same number, so where none is declared at all a
    pin of torch says it.
    """
    pinned = pinned_version(root, next((name for name in OWN_PACKAGES if requirements(root, name)), "torch"))
    return None if pinned is None else min(pinned, NEWEST)


def pinned_version(root: Path | None, package: str) -> Version | None:
    """The release of a package that a project's dependency declarations pin (`==`, `~=`, `<`), if any."""
    return pinned_by(requirements(root, package))


def installed_version(commands: str) -> Version | None:
    """The release of a backend that shell commands install, if they pin one, at most the newest known.

    They name it by a requirement (`torch_xla==2.0`), by the file of a wheel (`torch_xla-1.9-cp37-...whl`), or by the
    release of torch that it was built for.
    """
    wheel = WHEEL.search(commands)
    if wheel is not None:
        return min(Version(int(wheel[1]), int(wheel[2])), NEWEST)
    pinned = pinned_by(clauses(commands, ASSUMED.name)) or pinned_by(clauses(commands, "torch"))
    return None if pinned is None else min(pinned, NEWEST)


def pinned_by(required: Iterable[tuple[str, Version]]) -> Version | None:
    """The release that requirements pin, if any.

    A lower bound alone says nothing about the release in use. Below 5.0 the last release of 4 is meant.
    """
    for op, version in required:
        if op in ("==", "~=", "<="):
            return version
        if op == "<":
            return (
                Version(version.major, version.minor - 1) if version.minor else Version(version.major - 1, LAST_MINOR)
            )
    return None


@lru_cache(maxsize=64)
def requirements(root: Path | None, package: str) -> tuple[tuple[str, Version], ...]:
    """What a project's dependency declarations ask of a package: the operator and the version of each clause.

    `2` counts as 2.0; of a requirement with several clauses the first one is read.
    """
    found: list[tuple[str, Version]] = []
    for path in [root / name for name in DECLARATIONS] if root else []:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found += clauses(text, package)
    return tuple(found)


def clauses(text: str, package: str) -> Iterator[tuple[str, Version]]:
    """What a text asks of a package: the operator and the version of each requirement's first clause."""
    pattern = re.compile(REQUIREMENT.replace("{package}", re.sub("[-_]", "[-_]", package)))
    return ((m["op"], Version(int(m["major"]), int(m["minor"] or 0))) for m in pattern.finditer(text))


def is_of_framework(path: Path) -> bool:
    """Whether a file is a module of a framework's own package."""
    folder = path.parent
    while (folder / "__init__.py").exists():
        if folder.name in FRAMEWORKS:
            return True
        folder = folder.parent
    return False
