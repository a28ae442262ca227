"""Is a module part of an XLA program, and for which release of torch_xla?"""

from __future__ import annotations

import enum
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.program.syntax.index import index_of

if TYPE_CHECKING:
    from xla_lint.program.project.project import Project

XLA_PACKAGES = frozenset(
    {"torch_xla", "torch_neuronx", "neuronx_distributed", "neuronx_distributed_training", "torch_xla2", "torchacc"}
)
"""Packages whose import makes a module part of an XLA program."""
LIGHTNING = ("lightning", "pytorch_lightning")
XLA_SUBPACKAGES = ("optimum.neuron", "optimum.tpu", "lightning.pytorch.strategies.xla")
TORCH_PACKAGES = frozenset({"torch", "transformers", "accelerate", "lightning", "pytorch_lightning"})
MARKS = (b"torch_xla", b"_mp_fn", b"neuronx", b"optimum.neuron", b"optimum.tpu", b"torchacc",
         b'"tpu"', b"'tpu'", b'"xla', b"'xla")  # fmt: skip
"""A module whose source holds none of these is outside the automatic scope: a test on bytes, without a tree."""
ACCELERATORS = ("accelerate", "accelerate.Accelerator", "accelerate.accelerator.Accelerator")
"""What a module imports that builds an `Accelerator`."""


class Scope(enum.Enum):
    """Which modules are analysed."""

    AUTO = "auto"
    ALL = "all"


class Domain(enum.Enum):
    """What a module takes part in; a rule speaks in the modules of its domain."""

    XLA = "an XLA program"
    """Every rule speaks here."""
    ACCELERATE = "a program of Accelerate, which may run on XLA without naming it"
    SAGEMAKER = "a script that launches training jobs on SageMaker"


MARKS_OF = {Domain.ACCELERATE: b"Accelerator", Domain.SAGEMAKER: b"sagemaker"}
"""What the bytes of a module of this domain hold."""


class Version(NamedTuple):
    """A release of a library, say torch_xla 2.9."""

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
            raise ValueError(f"'{text}' is no torch_xla version; write it like 2.9")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


LAST_MINOR = 99
"""Stands for the last minor release of a major one."""
NEWEST = Version(2, 9)
"""The newest release that the knowledge tables describe."""


def may_be_in_scope(source: bytes, scope: Scope) -> bool:
    """A cheap test on a module's bytes: False only where `domains` is surely empty."""
    if any(mark in source for mark in MARKS_OF.values()):
        return True
    if scope is Scope.ALL:
        return b"torch" in source or b"transformers" in source or b"accelerate" in source or b"lightning" in source
    return any(mark in source for mark in MARKS)


def in_scope(module: nodes.Module, scope: Scope) -> bool:
    """Whether a module belongs to an XLA program (`auto`), or uses torch at all (`all`)."""
    for name in index_of(module).imported:
        if of_xla(name) or (scope is Scope.ALL and name.partition(".")[0] in TORCH_PACKAGES):
            return True
    return trains_on_tpu(module) or (
        "_mp_fn" in module.locals and isinstance(module.locals["_mp_fn"][0], nodes.FunctionDef)
    )


def of_xla(dotted: str) -> bool:
    """Whether a dotted name is of torch_xla or its kin."""
    return dotted.partition(".")[0] in XLA_PACKAGES or dotted.startswith(XLA_SUBPACKAGES)


def domains(module: nodes.Module, scope: Scope) -> frozenset[Domain]:
    """What a module takes part in; empty for a module that no rule has a say in."""
    with module.stream() as stream:  # type: ignore[no-untyped-call]
        if not may_be_in_scope(stream.read(), scope):
            return frozenset()
    found = {Domain.XLA} if in_scope(module, scope) else set()
    names = index_of(module).imported
    if any(name in ACCELERATORS for name in names):
        found.add(Domain.ACCELERATE)
    if any(name.partition(".")[0] == "sagemaker" for name in names):
        found.add(Domain.SAGEMAKER)
    return frozenset(found)


def runs_on_xla(module: nodes.Module) -> bool:
    """Whether a module speaks to the device itself, so that what its use shows to be a model lives there."""
    names = index_of(module).imported
    return (
        trains_on_tpu(module)
        or "_mp_fn" in module.locals
        or any(name.partition(".")[0] in ("torch_xla", "torchacc") for name in names)
    )


def trains_on_tpu(module: nodes.Module) -> bool:
    """Whether a module asks Lightning for a TPU, or for its strategy for XLA."""
    index = index_of(module)
    return index.asks_for_xla and any(name.startswith(LIGHTNING) for name in index.imported)


DECLARATIONS = ("pyproject.toml", "requirements.txt", "setup.cfg", "setup.py")
REQUIREMENT = (
    r"""(?<![\w.-]){package}(?:\[[^\]]*\])?\s*(?P<op>[=~<>!]=?)\s*(?P<major>\d+)(?:\.(?P<minor>\d+)|(?!\.?[\d*]))"""
)
"""A package's name and its first version clause."""


def target_version(project: Project) -> Version:
    """The release that the project's own files declare, else the newest known."""
    return declared_version(project.root) or NEWEST


def declared_version(root: Path | None) -> Version | None:
    """The torch_xla release that a project's dependency declarations pin, if any, at most the newest known.

    Each release of torch_xla is built for the one of torch with the same number, so where torch_xla is not declared
    at all a pin of torch says it.
    """
    pinned = pinned_version(root, "torch_xla" if requirements(root, "torch_xla") else "torch")
    return None if pinned is None else min(pinned, NEWEST)


def pinned_version(root: Path | None, package: str) -> Version | None:
    """The release of a package that a project's dependency declarations pin (`==`, `~=`, `<`), if any.

    A lower bound alone says nothing about the release in use. Below 5.0 the last release of 4 is meant.
    """
    for op, version in requirements(root, package):
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
    pattern = re.compile(REQUIREMENT.replace("{package}", re.sub("[-_]", "[-_]", package)))
    found: list[tuple[str, Version]] = []
    for path in [root / name for name in DECLARATIONS] if root else []:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found += ((m["op"], Version(int(m["major"]), int(m["minor"] or 0))) for m in pattern.finditer(text))
    return tuple(found)
