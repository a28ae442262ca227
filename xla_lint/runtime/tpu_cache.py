"""TorchTPU's own statistics: what its cache of executables was asked for, and what it had to compile.

Written from TorchTPU's source (`csrc/common/compilation_cache.h`), which marks them as unstable. Never run on a TPU.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE, MODULE, STATISTICS = "torch_tpu", "torch.tpu", "_get_cache_stats"
UNKNOWN = f"{MODULE} does not tell which lines compile, nor what executes and reads: these are missing, not 0"
UNTRIED = (
    f"the counter for {MODULE} was written from TorchTPU's source and is tested with a stand-in; it was never run on "
    "a TPU"
)


class UntoldError(RuntimeError):
    """TorchTPU is loaded, and the statistics of this release are not those that are known."""


@dataclass(frozen=True, slots=True)
class Lookups:
    """How often the cache was asked for an executable, and how often it held it."""

    asked: int = 0
    found: int = 0

    @property
    def compiles(self) -> int:
        """What was not in memory, as TorchTPU's own tests count: what a disk cache holds is among them."""
        return self.asked - self.found

    def __sub__(self, before: Lookups) -> Lookups:
        return Lookups(self.asked - before.asked, self.found - before.found)


@dataclass(frozen=True, slots=True)
class Executables:
    """What the cache holds; what it has evicted is missing."""

    number: int = 0
    once: int = 0
    """Those that nothing asked for again after they were compiled."""
    free: int = 0
    """Those that took no time to compile: a disk cache held them, compiling failed, or has not ended."""
    seconds: float = 0.0
    """What compiling them took."""


def there() -> bool:
    """Whether TorchTPU is loaded. Another vendor's package has its name, and others make a module of torch like its."""
    return PACKAGE in sys.modules and MODULE in sys.modules


def chosen() -> bool:
    """Whether the program runs on TorchTPU as far as is known: it has loaded that, and has not loaded torch_xla."""
    return there() and "torch_xla" not in sys.modules


def lookups() -> Lookups:
    """The lookups so far. To ask after TorchTPU has shut down its runtime ends the process.

    Raises:
        UntoldError: this release of TorchTPU does not tell.
    """
    with _understood():
        statistics = _statistics()
        return Lookups(statistics.num_cache_reqs, statistics.num_cache_hits)


def executables() -> Executables:
    """What the cache holds, at a cost for each of them. The same holds as for `lookups`.

    Raises:
        UntoldError: this release of TorchTPU does not tell.
    """
    with _understood():
        entries = list(_statistics().per_entry_stats)
        times = [each.compilation_duration for each in entries]
        once = sum(each.read_count == 1 for each in entries)  # to be compiled counts as one
    return Executables(len(entries), once, times.count(timedelta()), sum(times, timedelta()).total_seconds())


def _statistics() -> Any:
    return getattr(sys.modules[MODULE], STATISTICS)()


@contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except AttributeError as error:
        raise UntoldError(
            f"this release of TorchTPU tells nothing by {MODULE}.{STATISTICS}() that could be counted: {error}"
        ) from error
