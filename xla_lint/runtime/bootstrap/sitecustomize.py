"""Found by the processes that `xla-lint run` starts, because its folder is on PYTHONPATH; nothing else imports it.

It waits for the program to load torch_xla or TorchTPU, however that comes about, and begins to record then. The module
of this name that the process would otherwise have found is run as well, and `sys.path` is as it would have been.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import os
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

HERE = Path(__file__).resolve().parent
PACKAGES = str(HERE.parents[2])
AWAITED = {"torch_xla": "xla_lint.runtime.session", "torch_tpu": "xla_lint.runtime.tpu_session"}
"""The backends, and what records each."""
ASKED = {name: value for name, value in os.environ.items() if name.startswith("XLA_LINT_RUN_")}
"""What `xla-lint run` asks for, whatever the program does to its environment."""
FOLDER, FAILED = ASKED.get("XLA_LINT_RUN_FOLDER", ""), "failed.txt"
"""As `xla_lint.runtime.exchange` spells them, which may be what cannot be imported."""


class _Finder(importlib.abc.MetaPathFinder):
    """Finds a backend as the other finders do, as often as somebody asks, and has its loader begin the recording."""

    def __init__(self) -> None:
        self._asking = threading.local()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in AWAITED or getattr(self._asking, "others", False):
            return None
        self._asking.others = True
        try:
            spec = _found_by_others(self, name, path, target)
        finally:
            self._asking.others = False
        if spec is not None and spec.loader is not None:
            with _harmless():
                _observe(name, spec.loader)
        return spec


def _found_by_others(
    but: _Finder, name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find(name, path, target) if find is not None and finder is not but else None
        if spec is not None:
            return spec
    return None


def _observe(name: str, loader: Any) -> None:
    """Have a loader begin the recording around its first execution. It stays the object that the finder chose."""
    execute: Callable[[ModuleType], None] = loader.exec_module
    if isinstance(execute, _Execution):
        return

    def undo() -> None:
        with suppress(AttributeError):
            del loader.exec_module

    loader.exec_module = _Execution(name, execute, undo)


class _Execution:
    """Runs a backend, and begins to record it the first time."""

    begun: ClassVar[set[str]] = set()
    """The backends that are recorded."""

    def __init__(self, name: str, execute: Callable[[ModuleType], None], undo: Callable[[], None]) -> None:
        self._name = name
        self._execute = execute
        self._undo = undo

    def __call__(self, module: ModuleType) -> None:
        self._undo()
        if self._name in self.begun:
            self._execute(module)
            return
        self.begun.add(self._name)
        begin = _prepared(self._name)
        try:
            self._execute(module)
        except BaseException:
            self.begun.discard(self._name)
            raise
        if begin is not None:
            with _harmless():
                begin()


def _prepared(name: str) -> Callable[[], None] | None:
    """Prepare a recording; what is returned begins it once the backend is there."""
    with _harmless(), _importable():
        begin: Callable[[], None] = importlib.import_module(AWAITED[name]).prepare(ASKED)
        return begin
    return None


@contextmanager
def _harmless() -> Iterator[None]:
    """A process that cannot be recorded runs all the same, and whoever collects is told."""
    try:
        yield
    except Exception as error:  # noqa: BLE001
        why = f"{type(error).__name__}: {error}"
        with suppress(OSError, ValueError):
            sys.stderr.write(f"xla-lint: process {os.getpid()} is not recorded: {why}\n")
        with suppress(OSError):
            folder = Path(FOLDER, str(os.getpid()))
            folder.mkdir(exist_ok=True)
            folder.joinpath(FAILED).write_text(why, encoding="utf-8", errors="backslashreplace")


@contextmanager
def _importable() -> Iterator[None]:
    """xla_lint can be imported, wherever the program's interpreter looks otherwise."""
    if PACKAGES in sys.path:
        yield
        return
    sys.path.append(PACKAGES)
    try:
        yield
    finally:
        sys.path.remove(PACKAGES)


def _chain() -> None:
    """Run the module that this one hides."""
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]
    own = sys.modules.pop("sitecustomize", None)
    if importlib.util.find_spec("sitecustomize") is not None:
        importlib.import_module("sitecustomize")
    elif own is not None:
        sys.modules["sitecustomize"] = own


if FOLDER:
    sys.meta_path.insert(0, _Finder())
    _chain()
    for _name in (AWAITED.keys() & sys.modules.keys()) - _Execution.begun:  # a .pth file has loaded it
        _Execution.begun.add(_name)
        _begin = _prepared(_name)
        if _begin is not None:
            with _harmless():
                _begin()
else:
    _chain()
