"""Library objects that remember what was done with them: loaders of data, and loggers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xla_lint.program.domain.values import UNKNOWN, Value

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.loops import Loop


@dataclass(slots=True, eq=False)
class Logger(Value):
    """A `logging.Logger`; `level` is what `setLevel` gave it, 0 where it inherits the root's."""

    level: int = 0
    root: Logger | None = None
    """The root's logger; None for the root's own."""

    @property
    def effective_level(self) -> int:
        """Its own level, else the root's; 0 where neither was given one."""
        return self.level or (self.root.level if self.root is not None else 0)


@dataclass(slots=True, eq=False)
class Loader(Value):
    """A `DataLoader`, or what stands for one."""

    node: nodes.NodeNG | None
    element: Value
    wrapped: bool = False
    """True behind `MpDeviceLoader` or its kin: `next()` is a barrier and yields device tensors."""
    batch_size: Value | None = None
    drop_last: Value | None = None
    rows: int | None = None
    endless: bool = False
    dataset: Value = UNKNOWN
    sampler: Value | None = None
    shuffle: Value | None = None
    workers: Value | None = None
    unpacked: bool = False
    """True where `*args` or `**kwargs` may bring further arguments."""
    single: bool = False
    """True for what walks a `ParallelLoader`, which can be done once."""
    made: tuple[Loop, ...] = ()
    """The loops around its construction."""
    prepared: bool = False
    """True for what `Accelerator.prepare` returned."""
    evened: bool = False
    """True where the last batch is filled up on several replicas, and only on one of them may be smaller."""
    inner: Loader | None = None
    fed: bool = False
    """True where a device loader wraps it: it feeds the device, whether the loop is in sight or not."""
    loops: list[Loop] = field(default_factory=list)
    """The loops that iterate it."""

    def feed(self, loop: Loop) -> None:
        """Note a loop that takes its batches."""
        if loop not in self.host.loops:
            self.host.loops.append(loop)

    @property
    def host(self) -> Loader:
        """The `DataLoader` itself, under every wrapper."""
        return self.inner.host if self.inner else self
