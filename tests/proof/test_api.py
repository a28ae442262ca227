"""The tables of names, arguments and operations say what the real torch_xla has and does."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met
from torch.nn import functional

from xla_lint.knowledge import api, lowering
from xla_lint.knowledge.releases import release

TARGET = release(".".join(torch_xla.__version__.split(".")[:2]))
BACKENDS = "torch.compile"


def there(dotted: str) -> bool:
    """Whether a dotted name can be imported, or is an attribute of what can."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("name", api.names())
def test_a_name_is_there_if_the_table_says_so(name: str) -> None:
    assert there(name) is api.names()[name].life.exists(TARGET)


@pytest.mark.parametrize("name", [name for name, entry in api.names().items() if entry.life.exists(TARGET)])
def test_a_module_is_one(name: str) -> None:
    found = pkgutil.resolve_name(name)
    assert inspect.ismodule(found) is api.names()[name].is_module


@pytest.mark.parametrize("name", ["torch_xla.core.xla_model.xla_device", "torch_xla.core.xla_model.mark_step"])
def test_what_is_deprecated_warns(name: str) -> None:
    assert api.names()[name].life.is_deprecated(TARGET)
    with pytest.warns(DeprecationWarning, match="Use torch_xla"):
        pkgutil.resolve_name(name)()


@pytest.mark.parametrize(
    "spelling",
    [
        spelling
        for entry in api.names().values()
        if (spelling := entry.life.replacement(TARGET)) is not None and spelling.startswith("torch_xla")
    ],
)
def test_what_replaces_a_name_is_there(spelling: str) -> None:
    assert there(spelling.partition("(")[0])


RENAMES = [
    new
    for entry in api.names().values()
    if entry.life.ends and (new := entry.life.replaced_by(TARGET)) is not None and new.name is not None
]


@pytest.mark.parametrize("new", RENAMES, ids=lambda new: new.name)
def test_a_new_name_takes_what_becomes_of_the_old_arguments(new: api.Replacement) -> None:
    found = pkgutil.resolve_name(new.name)
    if new.takes is None:
        assert inspect.ismodule(found)
    else:
        assert {name for _, name in new.takes if name is not None} <= set(inspect.signature(found).parameters)


ARGUMENTS = [item for items in api.arguments().values() for item in items]


@pytest.mark.parametrize("item", [item for item in ARGUMENTS if item.call != BACKENDS], ids=lambda item: item.name)
def test_an_argument_is_there_if_the_table_says_so(item: api.Argument) -> None:
    parameters = inspect.signature(pkgutil.resolve_name(item.call)).parameters
    assert (item.name in parameters) is item.life.exists(TARGET)


def test_removed_backends_are_not_listed() -> None:
    backends = importlib.import_module("torch._dynamo").list_backends(exclude_tags=())
    for item in api.arguments()[BACKENDS]:
        assert item.life.exists(TARGET) is bool(item.values & set(backends))


X = "torch.rand(4, 6, device='xla')"
FALLBACKS = {
    "nn.functional.huber_loss": f"functional.huber_loss({X}, {X})",
    "nn.functional.grid_sample": "functional.grid_sample(torch.rand(1, 1, 4, 4, device='xla'),"
    " torch.zeros(1, 2, 2, 2, device='xla'), align_corners=False)",
    "nn.functional.unfold": "functional.unfold(torch.rand(1, 1, 4, 4, device='xla'), 2)",
    "nn.functional.embedding_bag": f"functional.embedding_bag(torch.zeros(2, 3, dtype=torch.long, device='xla'),"
    f" {X}.requires_grad_())",
    "median": f"{X}.median()",
    "mode": f"{X}.mode()",
    "histc": f"{X}.histc(4)",
    "searchsorted": f"torch.searchsorted({X}, {X})",
    "isin": f"torch.isin({X}, {X})",
    "logcumsumexp": f"{X}.logcumsumexp(0)",
    "nansum": f"{X}.nansum()",
    "lgamma": f"{X}.lgamma()",
    "exp2": f"{X}.exp2()",
    "fft.rfft": f"torch.fft.rfft({X})",
    "linalg.qr": f"torch.linalg.qr({X})",
    "linalg.solve": "torch.linalg.solve(torch.eye(3, device='xla'), torch.eye(3, device='xla'))",
    "tril_indices": "torch.tril_indices(3, 3, device='xla')",
    "round": f"{X}.round(decimals=2)",
    "multinomial": f"torch.multinomial({X}, 2)",
    "scatter_reduce": f"{X}.scatter_reduce(0, torch.zeros(4, 6, dtype=torch.long, device='xla'), {X}, 'mean')",
    "nn.functional.interpolate": "functional.interpolate(torch.rand(1, 1, 4, 4, device='xla'), None, 2, 'bicubic')",
}
LOWERED = (
    f"functional.smooth_l1_loss({X}, {X})",
    f"{X}.flatten().quantile(0.5)",
    f"{X}.round()",
    f"torch.multinomial({X}, 1)",
    f"torch.multinomial({X}, 2, replacement=True)",
    "functional.interpolate(torch.rand(1, 1, 4, 4, device='xla'), scale_factor=2)",
    f"{X}.scatter_reduce(0, torch.zeros(4, 6, dtype=torch.long, device='xla'), {X}, 'sum')",
)


def fallen_back(expression: str) -> set[str]:
    """The operators that run on the CPU when an expression is computed."""
    torch_xla.sync()
    met.clear_all()
    eval(expression, {"torch": torch, "functional": functional})
    torch_xla.sync()
    return set(met.executed_fallback_ops())


@pytest.mark.parametrize("name", FALLBACKS)
def test_an_operation_falls_back(name: str) -> None:
    known = {operator for fallback in lowering.operation(name) for operator in fallback.operators}
    assert fallen_back(FALLBACKS[name]) & known


@pytest.mark.parametrize("expression", LOWERED)
def test_what_the_page_recommends_is_lowered(expression: str) -> None:
    assert fallen_back(expression) == set()
