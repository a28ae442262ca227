"""What the rules about devices say of single calls holds on the real torch_xla."""

from __future__ import annotations

import multiprocessing
import operator
import os
import pkgutil
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
import torch.utils.checkpoint
import torch_xla
import torch_xla.debug.metrics as metrics
from torch import nn

from tests.proof.measure import DEVICE
from xla_lint.knowledge.runtime_calls import INITIALISING
from xla_lint.program.library.tensors import FETCHING_IN_PLACE
from xla_lint.rules.device.cuda_leftover import HARMLESS
from xla_lint.rules.device.unsupported_call import FOREACH, METHODS, NUMPY_PASSES

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SECONDS = 300
IN_TORCH_XLA = sorted(name for name in INITIALISING if name.startswith("torch_xla."))
NOT_INITIALISING = ("torch_xla.runtime.device_type", "torch_xla.runtime.is_spmd", "torch_xla.runtime.use_spmd")
GIVEN = {
    "torch_xla.manual_seed": (1,),
    "torch_xla.core.xla_model.set_rng_state": (1,),
    "torch_xla.core.xla_model.xla_real_devices": (["xla:0"],),
}


def make_there() -> None:
    torch.zeros(3, device="xla")


def move_there() -> None:
    torch.zeros(3).to("xla:0")


def move_a_model_there() -> None:
    nn.Linear(2, 2).to(torch.device("xla"))


def name_it() -> None:
    torch.device("xla")


PLACING = [f"{__name__}.{function.__name__}" for function in (make_there, move_there, move_a_model_there)]
NAMING = [f"{__name__}.{name_it.__name__}"]


def initialises(name: str) -> bool:
    """Call something in a process that has done nothing before, and ask whether the runtime is initialised."""
    assert not torch_xla._XLAC._xla_runtime_is_initialized()
    pkgutil.resolve_name(name)(*GIVEN.get(name, ()))
    return bool(torch_xla._XLAC._xla_runtime_is_initialized())


@pytest.fixture(scope="module")
def initialised() -> dict[str, bool]:
    os.environ["PJRT_DEVICE"] = DEVICE
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.proof.probe"])
    names = [*IN_TORCH_XLA, *NOT_INITIALISING, *PLACING, *NAMING]
    with processes.Pool(maxtasksperchild=1) as pool:
        return dict(zip(names, pool.map_async(initialises, names, chunksize=1).get(MOST_SECONDS), strict=True))


@pytest.mark.parametrize("name", [*IN_TORCH_XLA, *PLACING])
def test_it_initialises_the_runtime(name: str, initialised: dict[str, bool]) -> None:
    assert initialised[name]


@pytest.mark.parametrize("name", [*NOT_INITIALISING, *NAMING])
def test_it_leaves_the_runtime_alone(name: str, initialised: dict[str, bool]) -> None:
    assert not initialised[name]


def tensor() -> torch.Tensor:
    return torch.rand(3, 4, device="xla")


def parameter() -> nn.Parameter:
    made = nn.Parameter(tensor())
    made.grad = tensor()
    return made


@pytest.mark.parametrize("name", METHODS)
def test_the_method_raises(name: str) -> None:
    arguments = {"map_": (tensor(), max), "apply_": (abs,)}.get(name, ())
    with pytest.raises((TypeError, RuntimeError, NotImplementedError)):
        getattr(tensor(), name)(*arguments)


@pytest.mark.parametrize("name", ["array", "asarray", "isnan", "exp", "mean", "sum", "argmax", "linalg.norm", "unique"])
def test_numpy_raises(name: str) -> None:
    with pytest.raises(TypeError):
        pkgutil.resolve_name(f"numpy.{name}")(tensor())


@pytest.mark.parametrize("name", NUMPY_PASSES & {"shape", "ndim", "size", "squeeze"})
def test_numpy_asks_the_tensor_itself(name: str) -> None:
    getattr(np, name)(tensor())


def test_a_list_of_tensors_raises_too() -> None:
    with pytest.raises(TypeError):
        np.mean([tensor().sum(), tensor().sum()])


@pytest.mark.parametrize("optimizer", [torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.Adagrad])
def test_a_fused_step_raises(optimizer: type[torch.optim.Optimizer]) -> None:
    with pytest.raises(RuntimeError):
        optimizer([parameter()], lr=0.1, fused=True).step()


@pytest.mark.parametrize("name", FOREACH)
def test_foreach_raises(name: str) -> None:
    function = pkgutil.resolve_name(name)
    norm = (torch.ones((), device="xla"),) if name.endswith("with_norm_") else ()
    first = [tensor()] if name.endswith("total_norm") else [parameter()]
    with pytest.raises(RuntimeError):
        function(first, *([] if name.endswith("total_norm") else [1.0]), *norm, foreach=True)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing_of_torch_raises(reentrant: bool) -> None:
    with pytest.raises(AttributeError):
        torch.utils.checkpoint.checkpoint(torch.sin, tensor().requires_grad_(), use_reentrant=reentrant)


def test_a_loss_takes_no_tensors_in_its_constructor() -> None:
    scores, kinds = tensor(), torch.zeros(3, dtype=torch.long, device="xla")
    with pytest.raises(RuntimeError):
        nn.NLLLoss(scores, kinds)


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens without CUDA")
@pytest.mark.parametrize("name", HARMLESS)
def test_it_is_harmless_without_cuda(name: str) -> None:
    arguments = {"manual_seed": (1,), "manual_seed_all": (1,), "set_rng_state_all": ([],)}.get(name, ())
    getattr(torch.cuda, name)(*arguments)


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens without CUDA")
@pytest.mark.parametrize("call", [torch.cuda.synchronize, torch.cuda.current_device, lambda: tensor().cuda()])
def test_it_raises_without_cuda(call: object) -> None:
    assert callable(call)
    with pytest.raises(RuntimeError):
        call()


def fetched() -> int:
    """How many values the host has fetched so far."""
    found = metrics.metric_data("TransferFromDeviceTime")
    return found[0] if found else 0


@pytest.mark.parametrize("name", sorted(FETCHING_IN_PLACE))
def test_a_tensor_of_the_host_fetches_what_it_takes_in(name: str) -> None:
    kept = torch.tensor(name.startswith("logical")) if name.startswith("logical") else torch.tensor(1.0)
    given = torch.ones(4, device="xla").sum()
    before = fetched()
    getattr(kept, f"{name}_")(*[given] * (2 if name.startswith("addc") else 1))
    assert (kept.device.type, fetched() > before) == ("cpu", True)


@pytest.mark.parametrize("change", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow])
def test_an_operator_in_place_fetches_too(change: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
    kept, given, before = torch.tensor(1.0), torch.ones(4, device="xla").sum(), fetched()
    assert change(kept, given).device.type == "cpu"
    assert fetched() > before


def test_a_tensor_of_the_host_fetches_its_index() -> None:
    kept, place = torch.zeros(4), torch.ones(1, dtype=torch.long, device="xla")
    for use in (lambda: kept[place[0] * 2], lambda: kept.__setitem__(place[0] * 3, 1.0)):
        before = fetched()
        use()
        assert fetched() > before
