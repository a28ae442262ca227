"""What is mechanical about a move to another backend: what each use becomes, and what is left to a person."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from xla_lint.cli.config import Choice
from xla_lint.cli.fixing import Repaired, repaired
from xla_lint.cli.selection import Selection
from xla_lint.engine import Settings

HEAD = """\
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
"""
JOINED = "import torch.distributed as dist\ndist.init_process_group('xla')\n"


def moved(folder: Path, code: str, *, to: str = "torch_tpu", unsafe: bool = False, head: str = HEAD) -> Repaired:
    path = folder / "train.py"
    path.write_text(head + textwrap.dedent(code), encoding="utf-8")
    chosen = Selection(frozenset({"xla-migrate"}))
    (file,) = repaired({str(path): Choice(Settings(backend=to), chosen, chosen, None)}, unsafe=unsafe)
    assert file.problem is None
    ast.parse(file.new)
    return file


def lines(file: Repaired) -> list[str]:
    return [line for line in file.new.decode().splitlines() if line and not line.startswith("import ")]


@pytest.mark.parametrize(
    ("use", "becomes"),
    [
        ("device = xm.xla_device()", 'device = torch.device("tpu")'),
        ("torch_xla.manual_seed(seed=3)", "torch.manual_seed(3)"),
        ("xm.set_rng_state(3, device=xm.xla_device())", "torch.manual_seed(3)"),
        ("a = f'{xm.xla_device()} {1}'", "a = f'{torch.device(\"tpu\")} {1}'"),
        ('a = f"{xm.xla_device()}"', "a = f\"{torch.device('tpu')}\""),
        ("f = torch_xla.compile(f)", 'f = torch.compile(f, backend="tpu", dynamic=False)'),
        ("f = torch_xla.compile(f, True)", 'f = torch.compile(f, fullgraph=True, backend="tpu", dynamic=False)'),
        (
            "@torch_xla.compile(full_graph=True)\ndef f(x): pass",
            '@torch.compile(fullgraph=True, backend="tpu", dynamic=False)\ndef f(x): pass',
        ),
        ("@torch_xla.compile()\ndef f(x): pass", '@torch.compile(backend="tpu", dynamic=False)\ndef f(x): pass'),
        ("x = x.to('xla')", "x = x.to('tpu')"),
        ('torch.compile(f, backend="openxla")', 'torch.compile(f, backend="tpu")'),
        ("xm.wait_device_ops()", "torch.tpu.synchronize()"),
        ("a = xm.xla_device(); xm.mark_step()", 'a = torch.device("tpu")'),
        ("xm.mark_step(); a = xm.xla_device()", 'a = torch.device("tpu")'),
        ("if a: xm.mark_step()", "if a: pass"),
        ("d = torch_xla.amp.autocast(x.device)", 'd = torch.autocast("tpu", dtype=torch.bfloat16)'),
        (
            "d = torch_xla.amp.autocast(x.device, dtype=t, enabled=on)",
            'd = torch.autocast("tpu", dtype=t, enabled=on)',
        ),
    ],
)
def test_a_use_and_what_it_becomes(tmp_path: Path, use: str, becomes: str) -> None:
    file = moved(tmp_path, f"{use}\n")
    assert "\n".join(lines(file)) == becomes
    assert "torch_xla" not in file.new.decode()


@pytest.mark.parametrize(
    "use",
    [
        "device = xm.xla_device(1)",
        "device = torch.device('xla:1')",
        "find = xm.xla_device",
        "done = xm.mark_step()",
        "torch_xla.sync(wait=True)",
        "torch_xla.compile(f, **options)",
        "f = torch_xla.compile(f, name='step')",
        "xm.save(model.state_dict(), 'model.pt')",
    ],
)
def test_what_is_left_alone(tmp_path: Path, use: str) -> None:
    file = moved(tmp_path, f"{use}\n", unsafe=True)
    assert lines(file) == [use]


@pytest.mark.parametrize(
    ("use", "becomes"),
    [
        ("rank = xm.get_ordinal()", "rank = dist.get_rank()"),
        ("rank = int(xr.world_size())", "rank = int(dist.get_world_size())"),
        ("first = not xm.is_master_ordinal(False)", "first = not dist.get_rank() == 0"),
        ("first = a == xm.is_master_ordinal(local=False)", "first = a == (dist.get_rank() == 0)"),
        ("xm.rendezvous('done')", "dist.barrier()"),
        ("xm.master_print(a, flush=True)", "if dist.get_rank() == 0:\n    print(a, flush=True)"),
    ],
)
def test_the_process_group_is_asked_where_it_is_there(tmp_path: Path, use: str, becomes: str) -> None:
    (_, *found) = lines(moved(tmp_path, JOINED + use + "\n"))
    assert "\n".join(found) == becomes
    assert lines(moved(tmp_path, use + "\n")) == [use]
    assert "\n".join(lines(moved(tmp_path, use + "\n", unsafe=True))) == becomes


def test_before_the_process_group_is_there_nothing_can_ask_it(tmp_path: Path) -> None:
    code = """
        import torch.distributed as dist
        rank, first = xm.get_ordinal(), xm.is_master_ordinal()
        dist.init_process_group('xla', rank=rank, world_size=xr.world_size())
        rank = xm.get_ordinal()
        """
    found = lines(moved(tmp_path, code, unsafe=True))
    assert found == [
        "rank, first = xm.get_ordinal(), xm.is_master_ordinal()",
        "dist.init_process_group('tpu_dist', rank=rank, world_size=xr.world_size())",
        "rank = dist.get_rank()",
    ]


def test_a_local_rank_needs_os(tmp_path: Path) -> None:
    text = moved(tmp_path, JOINED + "local = xr.local_ordinal()\n").new.decode()
    assert "import os\n" in text
    assert text.endswith('local = int(os.environ["LOCAL_RANK"])\n')


def test_what_prints_its_own_computation_is_unsafe(tmp_path: Path) -> None:
    use = "xm.master_print(evaluate())"
    assert use in lines(moved(tmp_path, f"{JOINED}{use}\n"))
    assert "    print(evaluate())" in lines(moved(tmp_path, f"{JOINED}{use}\n", unsafe=True))


def test_what_is_printed_is_not_worked_out_on_one_rank_where_others_are_waited_for(tmp_path: Path) -> None:
    code = (
        JOINED
        + """def mean(x):
    dist.all_reduce(x)
    return x
x = torch.ones(2, device='tpu')
xm.master_print(mean(x))
xm.master_print(xm.get_ordinal())
"""
    )
    found = lines(moved(tmp_path, code, unsafe=True))
    assert "xm.master_print(mean(x))" in found
    assert found[-2:] == ["if dist.get_rank() == 0:", "    print(dist.get_rank())"]


STEP = """
    model = torch.nn.Linear(4, 2).to(torch.device("tpu"))
    {wrap}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(rows, batch_size=4, drop_last=True):
        loss = model(x.to("tpu")).mean()
        loss.backward()
        xm.optimizer_step(optimizer)
        {read_before}
        xm.mark_step()
        {read_after}
    """


def steps(folder: Path, *, unsafe: bool = False, **parts: str) -> str:
    code = STEP.format(**{"wrap": "pass", "read_before": "pass", "read_after": "pass", **parts})
    return moved(folder, code, unsafe=unsafe).new.decode()


def test_the_step_of_an_optimizer_is_safe_where_gradients_are_reduced(tmp_path: Path) -> None:
    assert "xm.optimizer_step(optimizer)" in steps(tmp_path)
    assert "optimizer.step()" in steps(tmp_path, unsafe=True)
    assert "optimizer.step()" in steps(tmp_path, wrap="model = torch.nn.parallel.DistributedDataParallel(model)")


def test_a_barrier_goes_where_it_hides_no_read(tmp_path: Path) -> None:
    assert "mark_step" not in steps(tmp_path)
    assert "mark_step" not in steps(tmp_path, read_before="losses.append(loss.item())")
    assert "mark_step" in steps(tmp_path, read_after="losses.append(loss.item())")


def test_a_barrier_stays_where_operations_are_fused(tmp_path: Path) -> None:
    code = "import os\nos.environ['TORCH_TPU_DEFER_AND_FUSE'] = '1'\nx = torch.ones(2, device='tpu')\nxm.mark_step()\n"
    assert "xm.mark_step()" in lines(moved(tmp_path, code))


def test_a_test_without_anything_to_do_goes_and_one_that_acts_stays(tmp_path: Path) -> None:
    code = """
        for step in range(3):
            if step % 2:
                xm.mark_step()
            if ask():
                xm.mark_step()
            if step:
                print(step)
            elif step == 2:
                torch_xla.sync()
        """
    assert (
        lines(moved(tmp_path, code))
        == textwrap.dedent("""\
        for step in range(3):
            if ask():
                pass
            if step:
                print(step)
            elif step == 2:
                pass""").splitlines()
    )


def test_the_body_of_a_step_stands_alone(tmp_path: Path) -> None:
    code = '''
        for step in range(3):
            with torch_xla.step():  # one step
                # first
                a = [
                    1,
                ]

                if a:
                    b = 2
                # last
            with torch_xla.step():
                c = """
                text"""
        '''
    assert moved(tmp_path, code).new.decode().split("\n\n", 1)[1] == textwrap.dedent('''\
        for step in range(3):
            # first
            a = [
                1,
            ]

            if a:
                b = 2
            # last
            with torch_xla.step():
                c = """
                text"""
        ''')


def test_an_import_that_nothing_uses_goes(tmp_path: Path) -> None:
    head = "import json, torch_xla.debug.metrics as met\nimport torch_xla.distributed.xla_backend\n"
    code = "import torch\ntry:\n    import torch_xla.runtime as xr\nexcept ImportError:\n    pass\n"
    assert moved(tmp_path, code, head=head).new.decode() == "import json\n" + code


def test_an_import_of_names_that_others_may_use_stays(tmp_path: Path) -> None:
    head = "import torch_xla.runtime as xr\n__all__ = ['xr']\n"
    assert moved(tmp_path, "import torch\n", head=head).new.decode() == head + "import torch\n"


@pytest.mark.parametrize("kept", [("xr",), ("xr", "met")])
def test_so_does_one_of_names_that_other_files_take(tmp_path: Path, kept: tuple[str, ...]) -> None:
    head = "import torch_xla.runtime as xr, torch_xla.debug.metrics as met\n"
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "other.py").write_text("".join(f"from train import {name}\n" for name in kept))
    left = head.replace(", torch_xla.debug.metrics as met", "") if kept == ("xr",) else head
    repaired = moved(tmp_path, "import torch\n", head=head)
    assert repaired.new.decode() == left + "import torch\n"
    assert len(repaired.made) == (kept == ("xr",))


def test_another_backend_has_its_own(tmp_path: Path) -> None:
    code = "f = torch_xla.compile(f)\nx.to(torch_xla.device())\n"
    found = lines(moved(tmp_path, code, to="torch_neuron"))
    assert found == ['f = torch.compile(f, backend="neuron")', 'x.to(torch.device("neuron"))']


def test_a_name_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    code = "def f(torch):\n    return xm.xla_device()\n"
    assert "    return xm.xla_device()" in lines(moved(tmp_path, code))
