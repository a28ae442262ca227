"""However torch_xla is found and loaded, what the process does is recorded; where it cannot be, that is an error."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.runtime.running import ROOT, Ran, command

MAIN = """
def main():
    import torch, torch_xla
    weight = torch.ones(4, device=torch_xla.device())
    for step in range(4):
        loss = (weight * 2).sum()
        loss.item()
        torch_xla.sync()
"""
WAYS = {
    "find_spec": "import importlib.util\nassert importlib.util.find_spec('torch_xla').loader.get_data",
    "find_spec of a part": "import importlib.util\nimportlib.util.find_spec('torch_xla.core.xla_model')",
    "version": "import importlib.metadata\nimportlib.metadata.version('torch_xla')",
    "transformers": "import transformers",
    "accelerate": "import accelerate",
    "lightning": "import lightning",
    "import_module": "import importlib\nimportlib.import_module('torch_xla.core.xla_model')",
    "reload": "import importlib, torch_xla\nimportlib.reload(torch_xla)",
    "lazy": (
        "import importlib.util, sys\nspec = importlib.util.find_spec('torch_xla')\n"
        "spec.loader = importlib.util.LazyLoader(spec.loader)\n"
        "module = importlib.util.module_from_spec(spec)\nsys.modules['torch_xla'] = module\n"
        "spec.loader.exec_module(module)\nmodule.device"
    ),
    "again after a failure": (
        "import os, sys\nsys.modules['_XLAC'] = None\ntry:\n    import torch_xla\n"
        "except ImportError:\n    del sys.modules['_XLAC']\nelse:\n    raise AssertionError"
    ),
    "environment cleared before": "import os\nos.environ.clear()\nos.environ['PJRT_DEVICE'] = 'CPU'",
    "environment cleared after": "import os, torch_xla\ntorch_xla.device()\nos.environ.clear()",
}


def assert_recorded(ran: Ran, processes: int = 1) -> None:
    assert ran.status == 0, ran.err
    totals = ran.report["totals"]
    assert (totals["executions"], totals["reads"]) == (8 * processes, 4 * processes)
    (read,) = [row for row in ran.report["rows"] if row["reads"]]
    assert read["source"] == "loss.item()"
    assert read["executions"] == 4 * processes


@pytest.mark.parametrize("way", WAYS)
def test_a_way_of_loading(way: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{WAYS[way]}\n{MAIN}\nmain()\n")
    assert_recorded(command(tmp_path, "train.py"))


def test_by_runpy(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MAIN + "main()\n")
    (tmp_path / "launcher.py").write_text("import runpy\nrunpy.run_path('train.py', run_name='__main__')\n")
    assert_recorded(command(tmp_path, "launcher.py"))
    assert_recorded(command(tmp_path, "-m", "runpy", "train"))


def test_from_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", "from train import main\nmain()\n")
        archive.writestr("train.py", MAIN)
    assert_recorded(command(tmp_path, "app.pyz"))


LAUNCHERS = {
    "torchrun": ["-m", "torch.distributed.run", "--nproc_per_node", "2", "train.py"],
    "accelerate launch": ["-m", "accelerate.commands.launch", "--num_processes", "1", "--cpu", "train.py"],
    "IPython": ["-m", "IPython", "--no-banner", "train.py"],
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_under_a_launcher(launcher: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MAIN + "main()\n")
    home = {"HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path)}
    assert_recorded(command(tmp_path, *LAUNCHERS[launcher], **home), 2 if launcher == "torchrun" else 1)


def test_under_xmp_spawn(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        f"{MAIN}\ndef worker(index):\n    main()\n\nif __name__ == '__main__':\n"
        "    import torch_xla.distributed.xla_multiprocessing as xmp\n    xmp.spawn(worker, nprocs=1)\n"
    )
    assert_recorded(command(tmp_path, "train.py"))


def test_the_program_sees_no_difference(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import importlib.util, sys\nspec = importlib.util.find_spec('torch_xla')\n"
        "import torch_xla\nloader = torch_xla.__spec__.loader\n"
        "print(type(spec.loader), type(loader), torch_xla.__loader__ is loader, vars(loader).keys(), spec.origin)\n"
    )
    ran = command(tmp_path, "train.py")
    alone = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.out == alone.stdout


@pytest.mark.parametrize("options", [[], ["--max-compiles", "0"]])
def test_nothing_executed_is_an_error(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch_xla\n")
    ran = command(tmp_path, *options, "train.py")
    assert ran.status == 3
    assert "error: torch_xla was imported, and nothing was compiled or executed on an XLA device" in ran.err
    assert ("nothing was recorded, so that no limit can be said to hold" in ran.err) is bool(options)


UNSEEN = {
    "isolated": "subprocess.run([sys.executable, '-I', 'train.py'], check=True)",
    "another environment": (
        "subprocess.run([sys.executable, 'train.py'], env={'PJRT_DEVICE': 'CPU', 'HOME': '/tmp'}, check=True)"
    ),
}


@pytest.mark.parametrize("how", UNSEEN)
def test_a_child_that_cannot_be_recorded_is_an_error(how: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MAIN + "main()\n")
    (tmp_path / "launcher.py").write_text(f"import subprocess, sys\n{UNSEEN[how]}\n")
    ran = command(tmp_path, "--max-executions-per-step", "9", "launcher.py")
    assert ran.status == 3
    assert ran.report["problems"][0].endswith("train.py")
    assert "loaded torch_xla and is not recorded" in ran.report["problems"][0]
    assert ran.report["broken"] == ["nothing was recorded, so that no limit can be said to hold"]


def test_workers_that_are_forked_are_no_strays(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        f"{MAIN}\nmain()\nimport os, time\npid = os.fork()\nif not pid:\n    time.sleep(3)\n    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
    )
    ran = command(tmp_path, "train.py")
    assert_recorded(ran)
    assert ran.report["problems"] == []


def test_a_recording_that_fails_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import os\nos.environ['XLA_FLAGS'] = ''\n" + MAIN + "main()\n")
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, types\nsys.modules['xla_lint.runtime.session'] = types.ModuleType('broken')\n"
    )
    ran = command(tmp_path, "train.py", PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert ran.status == 3
    assert "is not recorded: AttributeError" in ran.err
    assert "AttributeError" in ran.report["problems"][0]
