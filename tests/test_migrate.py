"""The plan of a move to another backend: every use has an answer, or says that it has none."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest

from xla_lint.cli.main import main
from xla_lint.knowledge.successors import BACKENDS, Group, successor
from xla_lint.knowledge.tables import load
from xla_lint.migration import report
from xla_lint.migration.plan import plan
from xla_lint.migration.uses import Use, uses_in
from xla_lint.program.backend import backend_named
from xla_lint.program.project.source import parse

HEAD = """\
import os
import torch, torch_xla
import torch.distributed as dist
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_multiprocessing as xmp
import torch_xla.runtime as xr
"""
LINES = {
    "device = xm.xla_device()": ("xm.xla_device", Group.RENAME, 'write torch.device("tpu")'),
    "world = xr.world_size() + 1": ("xr.world_size", Group.RENAME, "write torch.distributed.get_world_size()"),
    "here = torch.device('xla:1')": ("'xla:1'", Group.RENAME, 'write "tpu"'),
    "dist.init_process_group('xla')": ("'xla'", Group.RENAME, 'write "tpu_dist"'),
    "dist.init_process_group(init_method='xla://')": ("'xla://'", Group.GONE, "drop it (torchrun tells"),
    "model = torch.compile(model, backend='openxla')": ("'openxla'", Group.RENAME, 'write "tpu"'),
    "on_xla = device.type == 'xla'": ("'xla'", Group.RENAME, 'write "tpu"'),
    "xm.mark_step()": ("xm.mark_step", Group.GONE, "drop it (operations start"),
    "os.environ['PJRT_DEVICE'] = 'TPU'": ("'PJRT_DEVICE'", Group.GONE, "drop it: TorchTPU does not read it"),
    "loader = pl.MpDeviceLoader(loader, device)": ("pl.MpDeviceLoader", Group.THOUGHT, "the DataLoader itself"),
    "kind = xm.REDUCE_MUL": ("xm.REDUCE_MUL", Group.RENAME, "write torch.distributed.ReduceOp.PRODUCT"),
    "import torch_xla.debug.metrics as m": ("import torch_xla.debug.metrics as m", Group.GONE, "drop it (nothing uses"),
    "import torch_xla.distributed.xla_backend": (
        "import torch_xla.distributed.xla_backend",
        Group.RENAME,
        "write torch.distributed.init_process_group",
    ),
    "xmp.spawn(main)": ("xmp.spawn", Group.THOUGHT, "torchrun and a main()"),
    "helper(xm)": ("xm", None, "a module is used as a value"),
    "from torch_xla.core.xla_model import *": ("from torch_xla.core.xla_model import *", None, "a star hides"),
    "import neuronx_distributed as nxd": ("import neuronx_distributed as nxd", None, "neuronx_distributed is built on"),
    "import torch_xla.core.functions as xf": (
        "import torch_xla.core.functions as xf",
        Group.GONE,
        "drop it (nothing uses",
    ),
    "torch_xla._XLAC._xla_get_default_device()": ("torch_xla._XLAC._xla_get_default_device", None, "nothing is known"),
}


def uses_below(text: str) -> list[Use]:
    """The uses below the imports of `HEAD`, of which most are for nothing."""
    found = uses_in(parse(text, "train.py"), backend_named("torch_tpu"), text.split("\n"))
    return [use for use in found if use.line > HEAD.count("\n")]


@pytest.mark.parametrize("line", LINES)
def test_a_use_and_what_becomes_of_it(line: str) -> None:
    text = HEAD + line + "\n"
    (use,) = uses_below(text)
    written, group, advice = LINES[line]
    assert (use.line, use.written, use.group) == (8, written, group)
    assert use.advice.startswith(advice)


@pytest.mark.parametrize(
    "line",
    [
        "print('xla is lazy')",
        "xla = 'gpu'",
        "x = {'index': 1}",
        "y.xla",
        "try: import torch_xla\nexcept: pass",
    ],
)
def test_what_only_reads_like_a_use(line: str) -> None:
    text = HEAD + line + "\n"
    assert uses_below(text) == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_public_name_has_an_answer(backend: str) -> None:
    names = [row["name"] for row in load("api")["names"]]
    assert len(names) > 100
    modules = {name for name in names if any(other.startswith(f"{name}.") for other in names)}
    unknown = [name for name in names if name not in modules and successor(name, backend) is None]
    assert [name for name in unknown if successor(f"{name}.inside", backend) is None] == []


def test_files_without_decisions_come_first() -> None:
    uses = {
        name: uses_below(HEAD + code)
        for name, code in (("a.py", "xmp.spawn(f)\n"), ("b.py", "xm.mark_step()\n"), ("c.py", "print(1)\n"))
    }
    made = plan("TorchNeuron", uses.items())
    assert [share.path for share in made.shares] == ["b.py", "a.py"]
    assert [(topic.uses, topic.paths) for topic in made.topics] == [(1, ("a.py",))]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    code = """
        device = torch_xla.device()
        model = torch.nn.Linear(4, 2).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in pl.MpDeviceLoader(loader, device):
            optimizer.zero_grad()
            loss = model(x).mean()
            loss.backward()
            xm.optimizer_step(optimizer)
            torch_xla.sync()
            print('Größe', loss.item())
        """
    head = "".join(line for line in HEAD.splitlines(keepends=True) if "xr" not in line and "xmp" not in line)
    (tmp_path / "train.py").write_text("\n\n" + head + textwrap.dedent(code), encoding="utf-8")
    (tmp_path / "other.py").write_text("import json\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("program")
def test_the_plan_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "--to", "tpu", "."]) == 0
    text, told = capsys.readouterr()
    assert told.endswith("xla-lint fix --select xla-migrate --xla-target torch_tpu --diff PATH\n")
    assert text.startswith("train.py: 2 rename, 1 goes away, 2 needs thought\n  rename\n")
    assert "    torch_xla.sync (line 17): drop it" in text
    assert "    loss.item() (line 18): waits for the device in every step" in text
    assert text.endswith("to TorchTPU: 2 rename, 1 goes away, 2 needs thought in 1 file\n")


@pytest.mark.usefixtures("program")
def test_the_plan_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "--to", "neuron", "--format", "json", "."]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["totals"] == {"rename": 2, "goes away": 1, "needs thought": 2, "not classified": 0}
    (file,) = told["files"]
    assert [use["line"] for use in file["uses"]][:2] == [9, 12]
    (read,) = [use for use in file["uses"] if use["name"] == "xla-late-read"]
    assert (read["line"], read["column"], read["written"]) == (18, 20, "loss.item()")


def test_the_plan_as_a_page(program: Path) -> None:
    assert main(["migrate", "--to", "torch_tpu", "--format", "html", "--output-file", "plan.html", "."]) == 0
    page = (program / "plan.html").read_text(encoding="utf-8")
    assert "Moving to TorchTPU" in page
    assert "<code>pl.MpDeviceLoader</code>" in page
    assert "http" not in page


@pytest.mark.usefixtures("program")
def test_nothing_to_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "--to", "tpu", "other.py"]) == 0
    out, err = capsys.readouterr()
    assert out == "to TorchTPU: nothing to change\n"
    assert "xla-lint fix" not in err


def test_what_cannot_be_read_is_told_and_the_rest_is_planned(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program / "broken.py").write_text("import torch_xla\ndef f(:\n")
    assert main(["migrate", "--to", "tpu", "."]) == 2
    out, err = capsys.readouterr()
    assert "broken.py:2" in err
    assert "2 rename" in out


@pytest.mark.usefixtures("program")
def test_a_plan_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "--to", "tpu", "--output-file", "no/plan.txt", "."]) == 2
    assert "no/plan.txt cannot be written" in capsys.readouterr().err


def test_an_unknown_backend(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["migrate", "--to", "cuda", "."])
    assert error.value.code == 2
    assert "torch_tpu" in capsys.readouterr().err


def test_the_guide_shows_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (Path(__file__).parent.parent / "docs" / "migrating.md").read_text(encoding="utf-8")
    before, after = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", guide, re.DOTALL)
    moved = backend_named("torch_tpu")
    uses = uses_in(parse(before, "train.py"), moved, before.split("\n"))
    assert report.text(plan(moved.project, [("train.py", uses)])).startswith(shown)
    assert uses_in(parse(after, "train.py"), moved, after.split("\n")) == []
    (tmp_path / "after.py").write_text(after)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--no-cache", "after.py"]) == 0
    assert main(["check", "--no-cache", "--xla-target=torch_tpu", "after.py"]) == 0
