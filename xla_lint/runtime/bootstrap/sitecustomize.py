"""Found by the processes that `xla-lint run` starts, because its folder is on PYTHONPATH; nothing else imports it.

It waits for the program to import torch_xla, and begins to record then. The module of this name that the process would
otherwise have found is run as well, and `sys.path` is as it would have been.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

HERE = Path(__file__).resolve().parent
PACKAGES = str(HERE.parents[2])
AWAITED = "torch_xla"


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != AWAITED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        begin: Callable[[], None] | None = None
        with _harmless(), _importable():
            from xla_lint.runtime import session  # noqa: PLC0415

            session.prepare()
            begin = session.start
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        if begin is not None:
            with _harmless():
                begin()


@contextmanager
def _harmless() -> Iterator[None]:
    """A process that cannot be recorded runs all the same."""
    try:
        yield
    except Exception as error:  # noqa: BLE001
        sys.stderr.write(f"xla-lint: process {os.getpid()} is not recorded: {type(error).__name__}: {error}\n")


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


sys.meta_path.insert(0, _Finder())
_chain()
