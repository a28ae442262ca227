"""The file that keeps the results of one project and choice: lines, so that only what is asked for is unpacked.

The first line is a digest of the rest, with what wrote it: a damaged file, and that of another xla-lint, count as none.
Then come what is known of the files at once (`shape`, `state`, `files`), the rest of their summaries, and a line for
each result.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import astroid
import pylint

from xla_lint import __version__
from xla_lint.program.project.file_summary import Stamp, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.program.project.summaries import Packed

PACKAGE = Path(__file__).parent.parent
FIXTURES = "_fixtures"
"""The folder of examples in an installed package, which analyse nothing."""
HEADS = 2
"""How many values of a packed summary tell whether it still holds: the stamp and the digest of its file."""


class Result(NamedTuple):
    """A kept result."""

    state: str
    """The state of the project for which it is known to hold."""
    packed: bytes


class Held(NamedTuple):
    """What a file holds."""

    shape: str = ""
    """That of the project."""
    state: str = ""
    """What tells the contents of all files of the project apart from others."""
    files: Packed = {}  # noqa: RUF012 - never changed
    """The stamp and the digest of each file of the project."""
    rest: Callable[[], Packed] = dict
    """The rest of the summary of each."""
    results: dict[str, Result] = {}  # noqa: RUF012 - never changed
    """By the absolute paths of their files."""


def load(path: Path) -> Held:
    """What a file holds, nothing where it cannot be read, is damaged or another xla-lint wrote it."""
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return Held()
    if head != _head(path, body):
        return Held()
    known, summaries, *lines = body.split(b"\n")
    results = (line.split(b"\t", 2) for line in lines)
    shape, state, files = json.loads(known)
    rest: Callable[[], Packed] = functools.cache(functools.partial(json.loads, summaries))
    kept = {json.loads(name): Result(of.decode(), packed) for name, of, packed in results}
    return Held(shape, state, files, rest, kept)


def save(path: Path, held: Held) -> None:
    """Write a file, so that whoever reads it meanwhile sees the old one or the new one.

    Raises:
        OSError: it cannot be written.
    """
    lines = [json.dumps([held.shape, held.state, held.files]).encode(), json.dumps(held.rest()).encode()]
    lines += (
        b"\t".join([json.dumps(name).encode(), result.state.encode(), result.packed])
        for name, result in held.results.items()
    )
    body = b"\n".join(lines)
    _replace(path, _head(path, body) + b"\n" + body)


def state_of(summaries: Packed) -> str:
    """What tells the contents of files apart from others."""
    total = hashlib.blake2b(digest_size=16)
    for name, (_, digest, *_rest) in sorted(summaries.items()):
        total.update(f"{name}\n{digest}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def _head(path: Path, body: bytes) -> bytes:
    return f"{_fingerprint(path.parent)} {digest_of(body)}".encode()


@functools.cache
def _fingerprint(folder: Path) -> str:
    """A digest of what analyses: xla-lint with the contents of its files, Python, and the libraries that read source.

    It is kept in the folder, and made anew where a file of xla-lint has another stamp.
    """
    files = sorted(
        path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".json") and FIXTURES not in path.parts
    )
    versions = repr((__version__, sys.version, astroid.__version__, pylint.__version__))
    stamps = digest_of(repr((versions, [(str(path), Stamp.of(path)) for path in files])).encode())
    kept = folder / f"xla-lint-{stamps}"
    with contextlib.suppress(OSError):
        return kept.read_text(encoding="ascii")
    total = hashlib.blake2b(versions.encode(), digest_size=16)
    for path in files:
        total.update(f"{path.relative_to(PACKAGE)} {digest_of(path.read_bytes())}".encode())
    with contextlib.suppress(OSError):
        _replace(kept, total.hexdigest().encode())
    return total.hexdigest()


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    import tempfile  # noqa: PLC0415 - few runs have something new to keep

    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        os.close(descriptor)
        Path(name).write_bytes(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
