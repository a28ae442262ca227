"""Why the runtime compiled or executed, in plain words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause."""

    words: str
    barrier: bool = False
    """True where the program asked for it."""


LOADER = "torch_xla.sync in parallel loader at step end"
READ = "most likely user code trying to access tensor value before torch_xla.sync"
EAGER = "eager"
"""Our own word, for executions in a mode in which torch_xla writes no records."""
UNKNOWN = "no Python frame: the autograd thread, eager mode, or a process without records"

CAUSES = {
    "user torch_xla.sync": Cause("barrier", barrier=True),
    LOADER: Cause("barrier of the device loader", barrier=True),
    "torch_xla.sync when exiting a profiler StepTrace region": Cause("barrier at the end of a StepTrace", barrier=True),
    "torch_xla.sync when dynamo processing input graphs": Cause("dynamo runs what its inputs wait for"),
    "torch_xla.compile": Cause("end of a torch_xla.compile region", barrier=True),
    "torch_xla.compile clear the pending graph prior calling the target function": Cause(
        "work left pending before a torch_xla.compile region", barrier=True
    ),
    "dynamo is executing a compiled program": Cause("run of a function compiled by dynamo"),
    "dynamo is compiling a FX graph to HLO": Cause("dynamo compiles a function"),
    READ: Cause("the value of a pending tensor is needed"),
    EAGER: Cause("eager mode: each operation is a graph of its own; torch_xla does not record where"),
    "": Cause(UNKNOWN),
}
"""The causes that torch_xla 2.9 knows, by its spelling."""


def cause_of(spelled: str) -> Cause:
    """The cause that torch_xla spells so; one that a later release added keeps its spelling."""
    return CAUSES.get(spelled) or Cause(spelled)
