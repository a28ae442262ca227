"""What a file takes part in by its own statements: exactly, from its tree, or quickly, from its bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.program.backend import BACKENDS
from xla_lint.program.project.backends import LAZY_MARKS, NATIVE, names_native_device
from xla_lint.program.project.launches import launched_in
from xla_lint.program.project.lines import LINE, lines_of
from xla_lint.program.project.marks import (
    ACCELERATOR,
    ACCELERATORS,
    MAIN,
    SAGEMAKER,
    TORCH_PACKAGES,
)
from xla_lint.program.project.requests import Requests, may_request, requests_in
from xla_lint.program.project.scope import Domain, Scope
from xla_lint.program.syntax.index import index_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def _any_of(texts: Iterable[str]) -> bytes:
    return b"(?:" + b"|".join(re.escape(text.encode()) for text in texts) + b")"


PACKAGES = frozenset[str]().union(*(backend.packages for backend in BACKENDS))
MODULES = tuple(module for backend in BACKENDS for module in backend.modules)
DRIVING = frozenset[str]().union(*(backend.driving for backend in BACKENDS))
REPLICA_FUNCTIONS = tuple(backend.replica_function for backend in BACKENDS if backend.replica_function is not None)
NAMED_DEVICES = tuple(backend.device_type for backend in NATIVE)
SCRIPTS = (MAIN, *REPLICA_FUNCTIONS)
"""What a file holds that may run as a script though others import it."""
IMPORTED = rb"(?:(?:from|import)[ \t][^\n#]*\b|[\w, \t=.]*\b(?:import_module|__import__)\([ \t]*[\"'])"
XLA = _any_of([*sorted(PACKAGES), *MODULES]) + rb"\b"
REPLICAS = rb"def " + _any_of(REPLICA_FUNCTIONS) + rb"\b"
"""A file that defines the function for replicas."""
NAMED = rb"\b(?:to\(|device\(|device\s*=)\s*[\"']" + _any_of(NAMED_DEVICES)
NAMES_DEVICE = re.compile(
    NAMED
    + rb"[\"':]|\btorch\."
    + _any_of(NAMED_DEVICES)
    + rb"\.\w|"
    + _any_of(f"{quote}{backend.process_group}{quote}" for backend in NATIVE for quote in "\"'")
)
"""A file that names a device of a backend which need not be imported, its module of torch, or its process group."""
ASSIGNS_DEVICE = rb"\w+\s*=[^\n#]*" + NAMED + rb"(?::\d+)?[\"']\s*[),]"
"""The first, at the top level, and under no condition."""
NATIVE_NAMES = (*NAMED_DEVICES, *(backend.process_group for backend in NATIVE if backend.process_group is not None))
MENTIONED = re.compile(rb"[\"']" + _any_of(NAMED_DEVICES) + rb"[\"':]")
"""A file that holds the name of such a device: what becomes of it shows when it is run."""
NATIVE_PACKAGES = frozenset[str]().union(*(backend.driving for backend in NATIVE))
NATIVE_IMPORT = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+" + _any_of(sorted(NATIVE_PACKAGES)) + rb"\b[^\n]*", re.MULTILINE
)
OTHERS = tuple(mark for backend in NATIVE for mark in backend.others)
"""What a file holds that is for another maker's device of the same name."""
REQUIRES_XLA = re.compile(LINE + b"(?:" + IMPORTED + XLA + b"|" + ASSIGNS_DEVICE + b")")
"""An import, or such a device, under no condition."""
DEFINES_REPLICA = re.compile(LINE + REPLICAS)
IMPORTS_XLA = re.compile(LINE + rb"[ \t]*" + IMPORTED + XLA)
IMPORTS_ACCELERATOR = re.compile(LINE + rb"[ \t]*" + IMPORTED + ACCELERATOR.encode() + rb"\b")

TRAINING = re.compile(rb"\.backward\(|\bdef training_step\b|\b\w*Trainer\(")
"""What training code holds: it goes backward itself, or a trainer does."""


class Statements(NamedTuple):
    """What the bytes of a file say of the programs that it takes part in."""

    domains: frozenset[Domain]
    """What it takes part in, launch scripts left out."""
    launches: frozenset[str]
    """The paths of the files that it runs on XLA, as entry points of SageMaker's jobs or through `xla_spawn.py`."""
    names_script: bool
    """Whether it may run as a script though others import it."""
    requires_xla: bool
    """Whether it cannot be imported without a backend or its kin."""
    commits_to_xla: bool
    """Whether that holds, or it asks a framework for XLA: what cannot do without it is an XLA program."""
    is_other: bool = False
    """Whether it is for another maker's device of the name of a native backend's."""


def stated_in(source: bytes, path: Path | None = None) -> Statements:
    """What the bytes of a file say, which lies at a path."""
    is_other = _holds_any(source, OTHERS)
    if is_other:
        source = NATIVE_IMPORT.sub(b"", source)
    lines = lines_of(source)
    marked = _holds_any(source, LAZY_MARKS)
    requires = marked and REQUIRES_XLA.search(lines) is not None
    commits = requires or (marked and DEFINES_REPLICA.search(lines) is not None)
    requests = Requests() if commits else requests_in(source, path)
    shown = commits or any(requests) or (marked and (IMPORTS_XLA.search(lines) is not None or names_device(source)))
    domains = {Domain.XLA} if shown or (not is_other and mentions_device(source)) else set()
    if _holds_any(source, (ACCELERATOR,)) and IMPORTS_ACCELERATOR.search(lines):
        domains.add(Domain.ACCELERATE)
    return Statements(
        frozenset(domains),
        launched_in(source),
        _holds_any(source, SCRIPTS),
        requires,
        commits or requests.asks,
        is_other,
    )


def names_device(source: bytes) -> bool:
    """Whether a file names a native backend's device where one is asked for, its module of torch, or its group."""
    return _holds_any(source, NATIVE_NAMES) and NAMES_DEVICE.search(source) is not None


def mentions_device(source: bytes) -> bool:
    """Whether a file of torch holds the name of a native backend's device, as a setting or an argument may."""
    return b"torch" in source and MENTIONED.search(source) is not None


def _holds_any(source: bytes, texts: Iterable[str]) -> bool:
    return any(text.encode() in source for text in texts)


def holds_training(source: bytes) -> bool:
    """Whether a source trains a model with torch: it goes backward, or hands a step to a trainer."""
    return _holds_any(source, TORCH_PACKAGES) and TRAINING.search(source) is not None


def may_take_part(source: bytes, scope: Scope) -> bool:
    """A cheap test on a module's bytes: False only where `stated_by` is surely empty."""
    if _holds_any(source, (ACCELERATOR, SAGEMAKER)) or may_request(source):
        return True
    return _holds_any(source, TORCH_PACKAGES if scope is Scope.ALL else LAZY_MARKS)


def stated_by(module: nodes.Module, scope: Scope) -> frozenset[Domain]:
    """What a module takes part in by its own statements."""
    source = _source_of(module)
    if not may_take_part(source, scope):
        return frozenset()
    names = index_of(module).imported
    if _holds_any(source, OTHERS):
        names = {name for name in names if name.partition(".")[0] not in NATIVE_PACKAGES}
    found = {
        Domain.XLA: any(map(is_of_xla, names))
        or (scope is Scope.ALL and any(name.partition(".")[0] in TORCH_PACKAGES for name in names))
        or has_replica_function(module)
        or names_native_device(module)
        or any(requests_in(source, _path_of(module))),
        Domain.ACCELERATE: any(name in ACCELERATORS for name in names),
        Domain.SAGEMAKER: any(name.partition(".")[0] == SAGEMAKER for name in names),
    }
    return frozenset(domain for domain, holds in found.items() if holds)


def is_of_xla(dotted: str) -> bool:
    """Whether a dotted name is of a backend or its kin."""
    return dotted.partition(".")[0] in PACKAGES or dotted.startswith(MODULES)


def drives_device(module: nodes.Module) -> bool:
    """Whether a module drives the device, or has a framework do so: what its use shows to be a model lives there."""
    return (
        any(name in module.locals for name in REPLICA_FUNCTIONS)
        or any(name.partition(".")[0] in DRIVING for name in index_of(module).imported)
        or names_native_device(module)
        or any(requests_in(_source_of(module), _path_of(module)))
    )


def _path_of(module: nodes.Module) -> Path | None:
    return Path(module.file) if module.file else None


def _source_of(module: nodes.Module) -> bytes:
    with module.stream() as stream:  # type: ignore[no-untyped-call]
        source: bytes = stream.read()
    return source


def has_replica_function(module: nodes.Module) -> bool:
    """Whether a module defines the function that launchers of replicas look for."""
    found = (module.locals.get(name) for name in REPLICA_FUNCTIONS)
    return any(bound is not None and isinstance(bound[0], nodes.FunctionDef) for bound in found)
