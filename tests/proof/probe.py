"""What one run of a fixture makes the runtime do. It belongs into a process that has run nothing before."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import io
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
from torch.nn.modules.module import register_module_forward_hook
from torch.optim.optimizer import register_optimizer_step_post_hook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(slots=True)
class Counts:
    """The events of one run."""

    compiles: int = 0
    executions: int = 0
    reads: int = 0
    """Transfers from the device to the host."""
    barriers: int = 0
    callbacks: int = 0
    """Callbacks of step closures that ran."""
    graph: int = 0
    """Nodes of the largest graph that was compiled or looked up."""
    history: int = 0
    """Autograd nodes that live tensors held on to, at the barrier where they were most."""
    updates: int = 0
    """Steps of optimizers that had a gradient to follow."""
    lowered: int = 0
    """Calls of layers whose result has 16 bits a number."""


def count(fixture: Path, steps: int) -> Counts:
    """Call the fixture's `main(steps)` and count."""
    return observe(fixture, steps)[0]


def observe(fixture: Path, steps: int) -> tuple[Counts, object]:
    """The same, with what it gives."""
    counts = Counts()
    torch_xla.sync = _after(torch_xla.sync, functools.partial(_note_history, counts))
    xm.add_step_closure = _counting(xm.add_step_closure, counts)
    register_optimizer_step_post_hook(functools.partial(_note_update, counts))
    register_module_forward_hook(functools.partial(_note_precision, counts))
    logging.getLogger().handlers = [logging.StreamHandler(io.StringIO())]
    main = _load(fixture)
    gc.collect()
    gc.freeze()  # what is alive now is none of the fixture's
    with contextlib.redirect_stdout(io.StringIO()):
        result = main(steps)
    xm.wait_device_ops()
    counts.compiles = _samples("CompileTime")
    counts.executions = _samples("ExecuteTime")
    counts.reads = _samples("TransferFromDeviceTime")
    counts.barriers = met.counter_value("MarkStep") or 0
    counts.graph = _largest("TensorsGraphSize")
    return counts, result


def _load(fixture: Path) -> Callable[[int], object]:
    spec = importlib.util.spec_from_file_location(fixture.stem, fixture)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    main: Callable[[int], object] = module.main
    return main


def _samples(metric: str) -> int:
    data = met.metric_data(metric)
    return data[0] if data else 0


def _largest(metric: str) -> int:
    data = met.metric_data(metric)
    return int(max(value for _, value in data[2])) if data else 0


def _after(function: Callable[..., None], then: Callable[[], None]) -> Callable[..., None]:
    @functools.wraps(function)
    def wrapper(*args: object, **kwargs: object) -> None:
        function(*args, **kwargs)
        then()

    return wrapper


def _counting(register: Callable[..., None], counts: Counts) -> Callable[..., None]:
    """`add_step_closure`, with a note of every callback that runs."""

    @functools.wraps(register)
    def wrapper(closure: Callable[..., object], args: tuple[object, ...] = ()) -> None:
        def ran(*values: object) -> None:
            counts.callbacks += 1
            closure(*values)

        register(ran, args)

    return wrapper


def _note_history(counts: Counts) -> None:
    waiting = [item.grad_fn for item in gc.get_objects() if type(item) is torch.Tensor and item.grad_fn is not None]
    seen = set()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(before for before, _ in node.next_functions if before is not None)
    counts.history = max(counts.history, len(seen))


def _note_update(counts: Counts, optimizer: torch.optim.Optimizer, *_: object) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    counts.updates += any(parameter.grad is not None for parameter in parameters)


def _note_precision(counts: Counts, _layer: torch.nn.Module, _given: object, result: object) -> None:
    counts.lowered += isinstance(result, torch.Tensor) and result.dtype in (torch.bfloat16, torch.float16)
