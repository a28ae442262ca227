"""`xla-launch-arguments`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend.torch_xla.names import LAUNCH, LAUNCH_PICKLES, SPAWN, SPAWN_REFUSES_COUNT
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import Sequence
from xla_lint.program.queries import wrapped_function
from xla_lint.rules.arguments import constant, given
from xla_lint.rules.base import Rule, Severity
from xla_lint.rules.device.spelling import dotted_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding


class LaunchArguments(Rule):
    """A launch of replicas cannot work with the arguments it is given.

    ## What it does
    Finds calls of `torch_xla.launch` and `xmp.spawn` with

    - `nprocs=` greater than one, for targets from 2.6;
    - a lambda, or a function defined inside a function, as the target, unless no process is started;
    - a target that does not take the index of its process and the given `args`.

    ## Why it matters
    Since 2.6 `nprocs` may only be 1 or None, and anything else is a `ValueError`. The target is handed to a pool of
    processes, which pickles it, whatever `start_method` says: a lambda or a nested function cannot be pickled. The
    target is called with the index first, then `args`; otherwise each replica ends in a `TypeError`.

    ## What to write instead
    ```python
    def _mp_fn(index, flags): ...


    torch_xla.launch(_mp_fn, args=(flags,))
    ```

    Limit the number of devices by the environment, as in `TPU_NUM_DEVICES=4`, or `CPU_NUM_DEVICES=4`.

    ## When it is fine
    `nprocs=1` and `debug_single_process=True` call the target in the process itself: it may be a lambda then. With the
    XRT runtime of releases up to 2.0, `nprocs=8` was the usual number.
    """

    symbol = "xla-launch-arguments"
    number = "9766"
    severity = Severity.ERROR
    message = "the launch fails: %(problem)s; %(instead)s"
    subscribes = (LibraryCall,)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Launches."""
        return call in (LAUNCH, SPAWN)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report launches with arguments that cannot work."""
        if isinstance(event, LibraryCall):
            found = self._problem(event)
            if found is not None:
                yield self.finding(event.node, problem=found[0], instead=found[1])

    def _problem(self, call: LibraryCall) -> tuple[str, str] | None:
        processes = call.argument(2, "nprocs") if call.name == SPAWN else None
        count = constant(processes)
        if isinstance(count, int) and count > 1 and self.program.target >= SPAWN_REFUSES_COUNT:
            since = f"{self.program.backend.name} {dotted_release(SPAWN_REFUSES_COUNT)}"
            return (
                f"nprocs={count} is a ValueError since {since}",
                "leave it out to use every device, and limit them by the environment (TPU_NUM_DEVICES)",
            )
        target = call.argument(0, "fn")
        if self._pickled(call, processes):
            why = unpicklable(target)
            if why is not None:
                return f"{why} cannot be pickled for the new processes", "pass a function of the module's top level"
        return signature_problem(call, target)

    def _pickled(self, call: LibraryCall, processes: Value | None) -> bool:
        """Whether processes are started, and the target is pickled for them."""
        if call.unpacked or (
            given(processes) and constant(processes) != 1 and not isinstance(constant(processes), int)
        ):
            return False
        if constant(processes) == 1 or given(call.argument(3, "debug_single_process")):
            return False
        return self.program.target >= LAUNCH_PICKLES


def unpicklable(target: Value | None) -> str | None:
    """What makes a launch's target impossible to pickle, None where nothing is known to."""
    inner = wrapped_function(target)
    if inner is not None:
        return unpicklable(inner)
    if not isinstance(target, Function):
        return None
    if isinstance(target.node, nodes.Lambda) and not isinstance(target.node, nodes.FunctionDef):
        return "a lambda"
    around = target.node.parent.frame() if target.node.parent is not None else None
    if isinstance(around, nodes.FunctionDef):
        return f"'{target.name}', a function defined inside '{around.name}',"
    return None


def signature_problem(call: LibraryCall, target: Value | None) -> tuple[str, str] | None:
    """Why a target cannot be called with its index and the given arguments, None where it can, or nothing is known."""
    if not isinstance(target, Function) or call.unpacked:
        return None
    spec = target.node.args
    bound = len(target.leading) + (1 if target.receiver is not None and not target.static else 0)
    names = [*(spec.posonlyargs or []), *(spec.args or [])][bound:]
    required = max((count for count, name in enumerate(names, 1) if name.name not in target.defaults), default=0)
    if not names and not spec.vararg:
        return f"'{target.name}' takes no index, and is called with one", f"write 'def {target.name}(index)'"
    extra = call.argument(1, "args")
    if extra is None:
        passed = 1
    elif isinstance(extra, Sequence) and extra.items is not None:
        passed = 1 + len(extra.items)
    else:
        return None
    if passed < required or (passed > len(names) and not spec.vararg):
        return (
            f"'{target.name}' takes {len(names)} positional arguments, and gets the index and {passed - 1} more",
            "let 'args' fit its parameters after the index",
        )
    return None
