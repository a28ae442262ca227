"""What a PyTorch/XLA program really does: how often it compiles, executes and reads, where, and why again.

Importing this package imports neither torch nor torch_xla; whatever needs them asks for them when it runs.
"""

from __future__ import annotations

from xla_lint.runtime.counter import CompileCounter, TooManyCompilesError, assert_max_compiles
from xla_lint.runtime.counts import Counts, RuntimeMissingError
from xla_lint.runtime.watcher import watch

__all__ = [
    "CompileCounter",
    "Counts",
    "RuntimeMissingError",
    "TooManyCompilesError",
    "assert_max_compiles",
    "watch",
]
