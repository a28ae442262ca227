"""`xla-launch-arguments`."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.program.backend.torch_xla.names import LAUNCH, LAUNCH_PICKLES, SPAWN, SPAWN_REFUSES_COUNT
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import NONE, Number, Sequence, options
from xla_lint.program.queries import is_not_one, wrapped_function
from xla_lint.rules.arguments import constant, given, is_spelled_out, stated_text
from xla_lint.rules.base import Confidence, Rule, Severity
from xla_lint.rules.device.spelling import dotted_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.program.queries import Program
    from xla_lint.rules.base import Finding


FLAGS = ("absl.flags.DEFINE_integer",)
OPTIONS = ("argparse.ArgumentParser.add_argument", *FLAGS)
"""The functions that give a program an option."""
LEAVE_OUT = "leave it out to use every device, and limit them by the environment (TPU_NUM_DEVICES)"


class Problem(NamedTuple):
    """Why a launch fails, what to do about it, and whether both are certain."""

    what: str
    instead: str
    sure: bool = True


class LaunchArguments(Rule):
    """A launch of replicas cannot work with the arguments it is given.

    ## What it does
    Finds calls of `torch_xla.launch` and `xmp.spawn` with

    - `nprocs=` greater than one, for targets from 2.6, or an option of the command line that is so by default, or a
      number that the tests before the launch leave no other value;
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

    def __init__(self, program: Program) -> None:
        """Know of no option yet."""
        super().__init__(program)
        self._defaults: dict[str, set[int]] = defaultdict(set)
        """By option: what it is by default."""

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Launches, and the options that a program has."""
        return call in (LAUNCH, SPAWN, *OPTIONS)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report launches with arguments that cannot work."""
        if not isinstance(event, LibraryCall):
            return
        if event.name in OPTIONS:
            name, default = option_of(event)
            if name and isinstance(default, int):
                self._defaults[name].add(default)
            return
        processes = event.argument(2, "nprocs") if event.name == SPAWN else None
        found = self._count_problem(event, processes)
        if found is None and self.program.target >= LAUNCH_PICKLES:
            found = pickle_problem(event, processes)
        if found is None:
            found = signature_problem(event, event.argument(0, "fn"))
        if found is not None:
            yield self.finding(event.node, Confidence.of(found.sure), problem=found.what, instead=found.instead)

    def _count_problem(self, call: LibraryCall, processes: Value | None) -> Problem | None:
        """What is wrong with the number of processes."""
        if not given(processes) or self.program.target < SPAWN_REFUSES_COUNT:
            return None
        count, stated = constant(processes), isinstance(processes, Number) and processes.const is not None
        since = f"{self.program.backend.name} {dotted_release(SPAWN_REFUSES_COUNT)}"
        asked = count_asked(call)
        option = asked if isinstance(asked, nodes.Attribute) else None
        defaults = self._defaults.get(option.attrname, set()) if option is not None and not stated else set()
        is_number = not stated and (bool(defaults) or isinstance(processes, Number))
        if asked is not None and is_number and is_not_one(asked):
            what = f"nprocs={asked.as_string()}, which is not 1 here,"
            return Problem(f"{what} is a ValueError since {since}", LEAVE_OUT, sure=False)
        if len(defaults) == 1:
            (count,) = defaults
        elif not stated:
            count = max((n for n in map(constant, options(processes or NONE)) if isinstance(n, int)), default=None)
        if not isinstance(count, int) or count <= 1:
            return None
        what = f"nprocs={count}" if stated or option is None else f"nprocs={option.as_string()}, {count} by default,"
        return Problem(f"{what} is a ValueError since {since}", LEAVE_OUT, sure=stated)


def option_of(call: LibraryCall) -> tuple[str | None, object]:
    """The attribute under which a program finds an option, and what the option is by default."""
    if call.name in FLAGS:
        return stated_text(call.argument(0, "name")), constant(call.argument(1, "default"))
    long = [name for value in call.args if (name := stated_text(value)) and name.startswith("--")]
    name = stated_text(call.argument(-1, "dest")) or (long[0].lstrip("-").replace("-", "_") if long else None)
    return name, constant(call.argument(-1, "default"))


def count_asked(call: LibraryCall) -> nodes.NodeNG | None:
    """The expression that a launch takes the number of its processes from."""
    if not is_spelled_out(call.node):
        return None
    named = {keyword.arg: keyword.value for keyword in call.node.keywords}
    return named.get("nprocs") or (call.node.args[2] if len(call.node.args) > 2 else None)


def pickle_problem(call: LibraryCall, processes: Value | None) -> Problem | None:
    """Why a target cannot be pickled for the processes that are started, None where it can, or none may be."""
    if call.unpacked or constant(processes) == 1 or given(call.argument(3, "debug_single_process")):
        return None
    why = unpicklable(call.argument(0, "fn"))
    if why is None:
        return None
    counted = not given(processes) or isinstance(constant(processes), int)
    unless = "" if counted else " unless nprocs is 1"
    return Problem(
        f"{why} cannot be pickled for the new processes{unless}",
        "pass a function of the module's top level",
        sure=counted,
    )


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


def signature_problem(call: LibraryCall, target: Value | None) -> Problem | None:
    """Why a target cannot be called with its index and the given arguments, None where it can, or nothing is known."""
    if not isinstance(target, Function) or call.unpacked:
        return None
    spec = target.node.args
    bound = len(target.leading) + (1 if target.receiver is not None and not target.static else 0)
    names = [*(spec.posonlyargs or []), *(spec.args or [])][bound:]
    required = max((count for count, name in enumerate(names, 1) if name.name not in target.defaults), default=0)
    if not names and not spec.vararg:
        return Problem(f"'{target.name}' takes no index, and is called with one", f"write 'def {target.name}(index)'")
    extra = call.argument(1, "args")
    if extra is None:
        passed = 1
    elif isinstance(extra, Sequence) and extra.items is not None:
        passed = 1 + len(extra.items)
    else:
        return None
    if passed < required or (passed > len(names) and not spec.vararg):
        return Problem(
            f"'{target.name}' takes {len(names)} positional arguments, and gets the index and {passed - 1} more",
            "let 'args' fit its parameters after the index",
        )
    return None
