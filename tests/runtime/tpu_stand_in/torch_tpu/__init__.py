"""A stand-in for TorchTPU on the CPU: it is loaded as that is, and keeps such statistics of such a cache.

`torch.tpu.execute(key)` stands for an operation. As in TorchTPU's source, whoever asks for the statistics after the
runtime has shut down, which is at exit, ends the process.
"""

from __future__ import annotations

import atexit
import os
from dataclasses import dataclass
from datetime import timedelta
from types import ModuleType, SimpleNamespace

import torch

COMPILING = timedelta(milliseconds=250)


@dataclass
class Entry:
    compilation_duration: timedelta
    read_count: int = 1


class Cache:
    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.asked = self.found = 0
        self.gone = False

    def execute(self, key: str, *, on_disk: bool = False) -> None:
        if not self.asked:  # the runtime starts late, and so its end comes before that of whoever began before
            atexit.register(self.shut_down)
        self.asked += 1
        if key in self.entries:
            self.found += 1
            self.entries[key].read_count += 1
        else:
            self.entries[key] = Entry(timedelta() if on_disk else COMPILING)

    def shut_down(self) -> None:
        self.gone = True

    def statistics(self) -> SimpleNamespace:
        if self.gone:
            os.abort()
        return SimpleNamespace(
            num_cache_reqs=self.asked, num_cache_hits=self.found, per_entry_stats=list(self.entries.values())
        )


def _autoload() -> None:
    cache, module = Cache(), ModuleType("torch.tpu")
    module.execute = cache.execute
    tells = os.environ.get("STAND_IN_TELLS", "all")
    if tells != "nothing":
        module._get_cache_stats = cache.statistics if tells == "all" else SimpleNamespace
    torch.utils.rename_privateuse1_backend("tpu")
    torch._register_device_module("tpu", module)
