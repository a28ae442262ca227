"""What PyTorch itself does on backends that need not be imported: moves, and what `torch.compile` makes of code.

No TPU and no Trainium takes part: a small device of our own stands for one where a model moves, and a compiler that
only looks at its graph where code is compiled.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.proof import traced

needs_compiler = pytest.mark.skipif(None in (shutil.which("g++"), shutil.which("ninja")), reason="needs g++ and ninja")


@needs_compiler
class TestAMove:
    @pytest.fixture(scope="class")
    def moves(self, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bool]]:
        folder = tmp_path_factory.mktemp("device")
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        command = [sys.executable, "-m", "tests.proof.small_device", str(folder)]
        run = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True)
        found: dict[str, dict[str, bool]] = json.loads(run.stdout.splitlines()[-1])
        return found

    def test_replaces_parameters_unties_them_and_leaves_the_optimizer_the_old_ones(
        self, moves: dict[str, dict[str, bool]]
    ) -> None:
        expected = {"moves": True, "keeps": False, "optimizer follows": False, "stay tied": False}
        assert moves["unlisted"] == expected

    def test_keeps_parameters_where_the_backend_registers_the_check(self, moves: dict[str, dict[str, bool]]) -> None:
        assert moves["registered"] == dict.fromkeys(moves["registered"], True)


class SymbolicSizeError(Exception):
    """The graph holds a symbolic size."""


def refuse_symbols(graph: torch.fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
    """A compiler that takes no symbolic size, as TorchTPU's."""
    for node in graph.graph.nodes:
        value = node.meta.get("example_value")
        sizes = value.shape if isinstance(value, torch.Tensor) else [value]
        if any(isinstance(size, torch.SymInt) for size in sizes):
            raise SymbolicSizeError
    return graph.forward


def succeeds(compiled: Callable[..., Any], *given: Any) -> bool:
    """Whether a call succeeds; it may fail for a symbolic size alone."""
    try:
        compiled(*given)
    except torch._dynamo.exc.BackendCompilerFailed as error:
        if "SymbolicSizeError" not in repr(error):
            raise
        return False
    return True


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class TestSizes:
    def outcome(self, function: Callable[..., Any], *calls: tuple[Any, ...], **options: Any) -> list[bool]:
        """Whether each call of what is compiled succeeds, by PyTorch's own settings: torch_xla changes this one."""
        with torch._dynamo.config.patch(automatic_dynamic_shapes=True):
            compiled = torch.compile(function, backend=refuse_symbols, **options)
            return [succeeds(compiled, *given) for given in calls]

    def test_dynamic_raises_at_the_first_call(self) -> None:
        assert self.outcome(torch.sin, (torch.ones(4),), dynamic=True) == [False]

    def test_left_out_it_raises_at_the_second_size(self) -> None:
        sizes = [(torch.ones(size),) for size in (4, 4, 3)]
        assert self.outcome(torch.sin, *sizes) == [True, True, False]
        assert self.outcome(torch.sin, *sizes, dynamic=False) == [True, True, True]

    def test_an_integer_that_changes_raises_where_it_is_computed_with(self) -> None:
        def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
            return x * n

        def chosen(x: torch.Tensor, n: int) -> torch.Tensor:
            return x + 1 if n > 100 else x

        assert self.outcome(scaled, *((torch.ones(4), n) for n in (5, 6))) == [True, False]
        assert self.outcome(scaled, (torch.ones(4), 0.5), (torch.ones(4), 0.6)) == [True, True]
        assert self.outcome(chosen, *((torch.ones(4), n) for n in (5, 6))) == [True, True]


def breaks(function: Callable[..., Any], *given: Any) -> int:
    """How often the graph of a function is broken."""
    count: int = torch._dynamo.explain(function)(*given).graph_break_count
    return count


class TestBreaks:
    @pytest.mark.parametrize("function", [traced.prints, traced.clocks, traced.reads, traced.branches])
    def test_print_clocks_and_values_break_the_graph(self, function: Callable[..., Any]) -> None:
        assert breaks(function, torch.ones(3)) >= 1

    def test_what_the_device_decides_does_not(self) -> None:
        assert breaks(traced.chooses, torch.ones(3)) == 0

    def test_under_fullgraph_it_is_an_error(self) -> None:
        with pytest.raises(torch._dynamo.exc.Unsupported):
            torch.compile(traced.reads, backend="eager", fullgraph=True)(torch.ones(3))


class TestInferenceMode:
    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return torch.compile(function, backend="aot_eager")

    def test_inside_it_fails_as_soon_as_something_is_viewed(self) -> None:
        """In a process of its own: torch is of no use after the error."""
        command = [sys.executable, "-m", "tests.proof.traced"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode != 0
        assert "weakref" in run.stderr or "version_counter" in run.stderr

    def test_arithmetic_and_reductions_pass(self) -> None:
        self.compiled(traced.computes_inside)(torch.ones(2, 4))

    def test_around_a_call_it_is_fine_and_so_is_no_grad_inside(self) -> None:
        with torch.inference_mode():
            self.compiled(traced.layer)(torch.ones(2, 4))
        self.compiled(torch.no_grad()(traced.layer.forward))(torch.ones(2, 4))


@pytest.mark.parametrize("name", ["Adadelta", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"])
def test_an_optimizer_counts_its_steps_on_the_host_unless_it_is_capturable(name: str) -> None:
    parameter = nn.Parameter(torch.ones(3))
    optimizer = getattr(torch.optim, name)([parameter])
    assert optimizer.defaults["capturable"] is False
    parameter.grad = torch.ones(3)
    optimizer.step()
    assert optimizer.state[parameter]["step"].device.type == "cpu"
