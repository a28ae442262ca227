"""Which lines read from the device: the kernels that transfer are wrapped, so that each transfer can be placed."""

from __future__ import annotations

import dis
import functools
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, Protocol

from xla_lint.runtime.counts import runtime
from xla_lint.runtime.places import frames_of, is_backend, is_ours, is_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

KERNELS = {"_local_scalar_dense": "value", "_to_cpu": "fallback", "_to_copy": "copy", "copy_": "copy"}
"""The kernels of torch 2.9 for XLA tensors that bring values to the host, and what it means when they are called.

`_to_cpu` is how every fallback, and `.item()` inside, gets its inputs. `_to_copy` and `copy_` also do other things.
One call that brings values makes one transfer, whatever the number of its tensors.
"""
SAVING = "_xla_get_cpu_tensors"
"""How torch_xla's own functions that save get their values, in one transfer for all of them."""
FORMATTING = frozenset({"__format__", "__repr__", "__str__", "_str", "_tensor_str"})
"""The functions of torch that format a tensor."""
CLOSURES = frozenset({"_run_step_closures", "event_loop"})
"""The functions of torch_xla that run step closures: at the barrier, and in a thread."""
BRANCHES = ("POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")
"""How the bytecode instructions begin at which a test asks for the truth of a value."""


class Observer(Protocol):
    """What is told of the kernels. Nothing of it may raise."""

    def ready(self) -> None:
        """Something may be executed now."""

    def moved(self) -> None:
        """A tensor goes to the device, or becomes another type there."""

    def read(self, kind: str, pending: bool, seconds: float) -> None:
        """The host has read: how, whether values were pending, and how long it took."""


class Kernels:
    """The wrapped kernels. They stay wrapped until the process ends."""

    def __init__(self, observer: Observer) -> None:
        """The observer is told of each transfer."""
        import torch  # noqa: PLC0415

        extension = runtime("torch_xla")._XLAC
        self._observer = observer
        self._need = extension._check_tensor_need_materialization
        self._inside = threading.local()
        self._library = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of every kernel that is replaced
            for name, how in KERNELS.items():
                kernel = torch.library.get_kernel(f"aten::{name}", "XLA")
                wrapper = self._wrapped(kernel, how)
                self._library.impl(name, wrapper, "XLA", with_keyset=True, allow_override=True)
        setattr(extension, SAVING, self._wrapped_saving(getattr(extension, SAVING)))

    def _wrapped(self, kernel: Any, how: str) -> Callable[..., Any]:
        @functools.wraps(kernel.call_boxed, assigned=())
        def read(keys: Any, *args: Any, **kwargs: Any) -> Any:
            inside = getattr(self._inside, "kernel", False)
            reads = not inside and (how != "copy" or _to_host(args, kwargs))
            pending, began = False, 0.0
            if reads:
                self._inside.kernel = True
                self._observer.ready()
                pending = self._pending(list(_tensors(args)))
                began = time.perf_counter()
            elif not inside:
                self._observer.moved()
            try:
                result = kernel.call_boxed(keys, *args, **kwargs)
            except BaseException:
                del args, kwargs  # else the traceback would keep tensors alive that the program has given up
                raise
            finally:
                if reads:
                    self._inside.kernel = False
            if reads:
                self._observer.read(how, pending, time.perf_counter() - began)
            return result

        return read

    def _wrapped_saving(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def read(tensors: Any) -> Any:
            self._observer.ready()
            pending = self._pending(tensors)
            began = time.perf_counter()
            try:
                result = function(tensors)
            except BaseException:
                del tensors
                raise
            self._observer.read("save", pending, time.perf_counter() - began)
            return result

        return read

    def _pending(self, tensors: list[Any]) -> bool:
        """True where one of the tensors must be computed; an answer about these tensors, whatever other threads do."""
        try:
            return any(self._need(tensors))
        except RuntimeError:  # one has no value at all, about which the kernel itself will complain
            return False


def _tensors(args: tuple[Any, ...]) -> Iterator[Any]:
    """The tensors among a kernel's positional arguments, those in its lists of tensors too."""
    for argument in args:
        if isinstance(argument, (list, tuple)):
            yield from _tensors(tuple(argument))
        elif hasattr(argument, "device"):
            yield argument


def _to_host(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True where a copy may have the host as its target."""
    device = kwargs.get("device")
    if device is not None:
        return bool(device.type == "cpu")
    return bool(args and hasattr(args[0], "device") and args[0].device.type == "cpu")


def asked(innermost: FrameType, how: str) -> str:
    """How the user's line reads that the stack belongs to: `how` again, or `format`, `branch` or `closure`."""
    if how in {"fallback", "save"}:
        return how
    if any(frame.function in CLOSURES and is_backend(frame.file) for frame in frames_of(innermost)):
        return "closure"
    frame: FrameType | None = innermost
    while frame is not None and (is_ours(frame.f_code.co_filename) or not is_own(frame.f_code.co_filename)):
        if frame.f_code.co_name in FORMATTING:
            return "format"
        frame = frame.f_back
    tests = how == "value" and frame is not None and _tests(frame.f_code, frame.f_lasti)
    return "branch" if tests else how


def _tests(code: CodeType, offset: int) -> bool:
    """True where the instruction at `offset` bytes asks whether a value is true."""
    return dis.opname[code.co_code[offset]].startswith(BRANCHES)
