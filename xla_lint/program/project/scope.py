"""What the user may choose to have checked, what a module may take part in, and the releases that projects declare."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.program.backend import ASSUMED, OWN_PACKAGES
from xla_lint.program.backend.frameworks import FRAMEWORKS
from xla_lint.program.project.declarations import newest_admitted, required_by, requirements

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from packaging.specifiers import SpecifierSet


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


NEWEST = Version(2, 9)
"""The newest release that the knowledge tables describe."""


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
    """The newest release of a package that a project's dependency declarations admit, where they set an end."""
    return pinned_by(requirements(root, package))


def installed_version(commands: str) -> Version | None:
    """The release of a backend that shell commands install, if they pin one, at most the newest known.

    They name it by a requirement (`torch_xla==2.0`), by the file of a wheel (`torch_xla-1.9-cp37-...whl`), or by the
    release of torch that it was built for.
    """
    pinned = pinned_by(required_by(commands, ASSUMED.name)) or pinned_by(required_by(commands, "torch"))
    return None if pinned is None else min(pinned, NEWEST)


def pinned_by(required: Iterable[SpecifierSet]) -> Version | None:
    """The newest release that the first of some requirements with an end admits."""
    admitted = map(newest_admitted, required)
    return next((Version(*release) for release in admitted if release is not None), None)


def is_of_framework(path: Path) -> bool:
    """Whether a file is a module of a framework's own package."""
    folder = path.parent
    while (folder / "__init__.py").exists():
        if folder.name in FRAMEWORKS:
            return True
        folder = folder.parent
    return False
