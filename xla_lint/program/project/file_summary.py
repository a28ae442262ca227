"""What the bytes of a file tell of it, without a tree: its imports, and the marks of an XLA program that it bears."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.program.project.scope import XLA_PACKAGES, Domain

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)|import[ \t]+([^\n#;]+))", re.MULTILINE
)
ENTRY_POINT = re.compile(rb"""entry_point\s*=\s*["']([^"'\n]*)["']""")
LAUNCHES_ON_XLA = (b"TrainingCompilerConfig(", b"pytorchxla", b'"ml.trn', b"'ml.trn")
"""What a launch script says of a training job that runs on XLA."""
SCRIPT_MARKS = (b"__main__", b"_mp_fn")
STATEMENT = rb"^[ \t]*(?:from|import)[ \t][^\n#]*\b"
PACKAGES = rb"(?:" + "|".join(sorted(XLA_PACKAGES)).encode() + rb"|optimum\.(?:neuron|tpu))\b"
NEEDS_XLA = re.compile(rb"^(?:from|import)[ \t][^\n#]*\b" + PACKAGES, re.MULTILINE)
"""An import under no condition."""
RUNS_ON_XLA = rb"^def _mp_fn\b|\b(?:accelerator|strategy)\s*=\s*[\"'](?:tpu|xla)"
MEANS_XLA = re.compile(NEEDS_XLA.pattern + b"|" + RUNS_ON_XLA, re.MULTILINE)
"""What makes every program that it belongs to one of XLA."""
SPEAKS = {
    Domain.XLA: re.compile(STATEMENT + PACKAGES + b"|" + RUNS_ON_XLA, re.MULTILINE),
    Domain.ACCELERATE: re.compile(STATEMENT + rb"Accelerator\b", re.MULTILINE),
}
"""What the bytes of a file say that takes part in such a program by its own statements."""


class Stamp(NamedTuple):
    """What changes in the file system when a file is written: nanoseconds since the epoch, and bytes."""

    modified: int
    changed: int
    size: int

    @classmethod
    def of(cls, path: str | Path) -> Stamp | None:
        """The stamp of a file, None where there is none."""
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            return None
        return cls(status.st_mtime_ns, status.st_ctime_ns, status.st_size)


class FileSummary(NamedTuple):
    """What the project needs to know of a file before any is parsed."""

    stamp: Stamp | None
    """Taken before the file was read."""
    digest: str
    says: tuple[str, ...]
    """The names of the domains that it takes part in by its own statements."""
    script: bool
    """Whether it may run as a script though others import it."""
    needs_xla: bool
    """Whether it cannot be imported without torch_xla or its kin."""
    means_xla: bool
    """Whether that holds, or it asks a framework for XLA: what imports it is an XLA program."""
    launches: tuple[str, ...]
    """The names of the files that it runs on XLA as SageMaker's entry points."""
    adds: frozenset[Path]
    """The folders that it puts on Python's search path."""
    imports: frozenset[Path]
    """The files of the project that it imports, as far as they lie where any module finds them."""
    needs: frozenset[Path]
    """Those among them without which it cannot be imported."""
    elsewhere: frozenset[str]
    """The other dotted names that it imports and that may be of the project."""


def digest_of(source: bytes) -> str:
    """What tells the contents of files apart."""
    return hashlib.blake2b(source, digest_size=16).hexdigest()


def said_by(source: bytes) -> tuple[str, ...]:
    """The names of the domains that a source takes part in by its own statements."""
    return tuple(domain.name for domain, said in SPEAKS.items() if said.search(source))


def is_script(source: bytes) -> bool:
    """Whether a source may run as a script."""
    return any(mark in source for mark in SCRIPT_MARKS)


def launched_by(source: bytes) -> tuple[str, ...]:
    """The file names that a SageMaker launch script runs on XLA.

    They are entry points there, with the Training Compiler, the `pytorchxla` launcher or a Trainium instance.
    """
    if b"sagemaker" not in source or not any(mark in source for mark in LAUNCHES_ON_XLA):
        return ()
    paths = (match[1].decode("utf-8", "replace") for match in ENTRY_POINT.finditer(source))
    return tuple(sorted({PurePosixPath(path).name for path in paths}))


class Import(NamedTuple):
    """A name that a source may import."""

    dotted: str
    level: int
    """The number of dots before a relative one."""
    needed: bool
    """Whether the source cannot do without: the import stands under no condition."""


def imports_in(source: bytes) -> Iterator[Import]:
    """The names that a source may import."""
    for match in IMPORT.finditer(source):
        needed = not match[0][:1].isspace()
        origin, names, plain = (group.decode("utf-8", "replace") if group else "" for group in match.groups())
        if plain:
            for item in plain.split(","):
                yield Import(item.split(" as ")[0].strip(), 0, needed)
        else:
            stem = origin.lstrip(".")
            level = len(origin) - len(stem)
            yield Import(stem, level, needed)
            for item in names.strip("()").split(","):
                name = item.split(" as ")[0].strip()
                if name.isidentifier():
                    yield Import(f"{stem}.{name}".lstrip("."), level, needed)
