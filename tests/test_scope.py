"""Which files are checked, by which rules, and what is said of those that are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xla_lint.cli.main import main
from xla_lint.engine import Settings, check_module
from xla_lint.program.project import roots
from xla_lint.program.project.cycles import reaches
from xla_lint.program.project.project import MOST_REACHED, Project
from xla_lint.program.project.scope import Scope
from xla_lint.program.project.source import parse

Captured = pytest.CaptureFixture[str]
READ = "xla-value-read"
PICK = "def pick():\n    return torch.device('cpu') if torch_xla is None else torch_xla.device()\n"
OPTIONAL = "import torch\ntry:\n    import torch_xla\nexcept ImportError:\n    torch_xla = None\n" + PICK
LOOP = """\
import torch
{}
def main():
    device = {}
    model = torch.nn.Linear(8, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 8, device=device)).square().mean()
        loss.backward()
        optimizer.step()
        print(loss.item())

if __name__ == "__main__":
    main()
"""
HELPERS: dict[str, tuple[str, dict[str, str]]] = {
    "an optional import": (LOOP.format("from device import pick", "pick()"), {"device.py": OPTIONAL}),
    "an import inside the function": (
        LOOP.format("from device import pick", "pick()"),
        {
            "device.py": "import torch\ndef pick(kind='tpu'):\n    if kind == 'tpu':\n"
            "        import torch_xla.core.xla_model as xm\n        return xm.xla_device()\n"
            "    return torch.device('cuda')\n"
        },
    ),
    "an import inside the script's function": (
        LOOP.format("", "__import__('device') and None\n    from device import pick\n    device = pick()"),
        {"device.py": OPTIONAL},
    ),
    "a package that hands it on": (
        LOOP.format("from utils import pick", "pick()"),
        {"utils/__init__.py": "from .device import pick\n", "utils/device.py": OPTIONAL},
    ),
    "everything of a module": (LOOP.format("from device import *", "pick()"), {"device.py": OPTIONAL}),
    "a module by its name": (LOOP.format("import device as d", "d.pick()"), {"device.py": OPTIONAL}),
    "two hops": (
        LOOP.format("from helpers import choose", "choose()"),
        {"helpers.py": "from device import pick\ndef choose():\n    return pick()\n", "device.py": OPTIONAL},
    ),
    "a folder of sources": (
        LOOP.format("from kit.device import pick", "pick()"),
        {"src/kit/__init__.py": "", "src/kit/device.py": OPTIONAL},
    ),
    "a module imported by its name": (
        LOOP.format("from device import pick", "pick()"),
        {
            "device.py": "import importlib\ntorch_xla = importlib.import_module('torch_xla')\n"
            "def pick():\n    return torch_xla.device()\n"
        },
    ),
    "a constant": (LOOP.format("from device import DEVICE", "DEVICE"), {"device.py": OPTIONAL + "DEVICE = pick()\n"}),
}


def found_in(folder: Path, name: str, files: dict[str, str], settings: Settings | None = None) -> list[str]:
    for place, text in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    Project.forget()
    path = folder / name
    module = parse(path.read_text(encoding="utf-8"), path)
    return [f.rule.symbol for f in check_module(module, Project.around(path), settings or Settings())]


@pytest.mark.parametrize(("script", "files"), HELPERS.values(), ids=HELPERS)
def test_a_script_takes_the_device_from_its_modules(tmp_path: Path, script: str, files: dict[str, str]) -> None:
    assert READ in found_in(tmp_path, "main.py", {"setup.py": "", "main.py": script, **files})


def test_a_script_that_takes_something_else_from_them_is_outside(tmp_path: Path) -> None:
    script = LOOP.format("from device import words", "'cuda'")
    files = {"main.py": script, "device.py": OPTIONAL + "def words():\n    return 3\n"}
    assert not found_in(tmp_path, "main.py", files)


def test_a_script_on_the_device_of_accelerate_is_outside_whatever_it_imports(tmp_path: Path) -> None:
    script = LOOP.format("from accelerate import Accelerator\nfrom device import words", "Accelerator().device")
    files = {"main.py": script, "device.py": OPTIONAL + "def words():\n    return 3\n"}
    assert READ not in found_in(tmp_path, "main.py", files)


def test_a_device_that_a_helper_uses_itself_is_not_the_scripts(tmp_path: Path) -> None:
    script = LOOP.format("from accelerate import Accelerator\nfrom device import noise", "Accelerator().device")
    helper = OPTIONAL + "def noise():\n    return torch.randn(4, device=pick())\n"
    files = {"main.py": script.replace("_ in range(6)", "_ in noise()"), "device.py": helper}
    assert READ not in found_in(tmp_path, "main.py", files)


def a_package(number: int) -> dict[str, str]:
    """A package of so many modules besides, none of which imports another."""
    report = "def show(step, loss):\n    print(step, loss.item())\n"
    return {"setup.py": "", "proj/__init__.py": "", "proj/report.py": report} | {
        f"proj/part{place}.py": "" for place in range(number)
    }


def test_the_size_of_a_package_is_no_limit(tmp_path: Path) -> None:
    script = LOOP.replace("print(loss.item())", "show(0, loss)\n        torch_xla.sync()")
    main_file = script.format("import torch_xla\nfrom proj.report import show", "torch_xla.device()")
    assert READ in found_in(tmp_path, "proj/report.py", {"main.py": main_file, **a_package(70)})


@pytest.mark.parametrize("reached", [MOST_REACHED - 2, MOST_REACHED + 5])
def test_what_a_module_of_a_large_package_leads_to_is_one(tmp_path: Path, reached: int) -> None:
    files = a_package(70)
    files["proj/report.py"] = "".join(f"from proj import part{n}\n" for n in range(reached)) + files["proj/report.py"]
    script = LOOP.replace("print(loss.item())", "show(0, loss)\n        torch_xla.sync()")
    files["main.py"] = script.format("import torch_xla\nfrom proj.report import show", "torch_xla.device()")
    assert (READ in found_in(tmp_path, "proj/report.py", files)) is (reached < MOST_REACHED)


@pytest.mark.parametrize(("name", "found"), [("main.py", True), ("tests/test_main.py", False)])
def test_the_tests_of_a_large_package_use_it_as_a_library(tmp_path: Path, name: str, found: bool) -> None:
    script = LOOP.replace("print(loss.item())", "show(0, loss)\n        torch_xla.sync()")
    text = script.format("import torch_xla\nfrom proj.report import show", "torch_xla.device()")
    assert (READ in found_in(tmp_path, "proj/report.py", {name: text, **a_package(70)})) is found


@pytest.mark.parametrize(("package", "apart"), [("mine", False), ("ignite", True), ("neuronx_distributed", True)])
def test_a_framework_in_its_own_checkout_is_a_library(tmp_path: Path, package: str, apart: bool) -> None:
    script = LOOP.replace("print(loss.item())", "show(0, loss)\n        torch_xla.sync()")
    files = {place.replace("proj", package): text for place, text in a_package(70).items()}
    files["main.py"] = script.format(f"import torch_xla\nfrom {package}.report import show", "torch_xla.device()")
    assert (READ not in found_in(tmp_path, f"{package}/report.py", files)) is apart


def test_a_checkout_of_a_known_library_is_part_of_no_program(tmp_path: Path) -> None:
    files = {f"transformers/part{n}.py": "" for n in range(70)} | {"setup.py": "", "transformers/__init__.py": ""}
    files |= {
        "transformers/report.py": a_package(0)["proj/report.py"],
        "main.py": "import torch_xla\nimport transformers.report",
    }
    found_in(tmp_path, "main.py", files)
    assert not Project.around(tmp_path / "main.py").membership(tmp_path / "transformers/report.py").programs


def test_reach_counts_each_file_once_and_circles_as_one() -> None:
    a, b, c, d = map(Path, "abcd")
    assert reaches({a: [b, c], b: [d], c: [d], d: [c]}) == {a: 4, b: 3, c: 2, d: 2}


JOB = "import sagemaker\nPyTorch(entry_point='train.py', source_dir='scripts', instance_type='ml.trn1.2xlarge')\n"


@pytest.mark.parametrize("marker", ["scripts/train.py", "scripts/requirements.txt"])
def test_a_folder_of_entry_points_belongs_to_the_project_of_its_launch_script(tmp_path: Path, marker: str) -> None:
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/train.py", marker):
        (tmp_path / name).touch()
    (tmp_path / "launch.py").write_text(JOB, encoding="utf-8")
    Project.forget()
    assert roots.root_of(tmp_path / "scripts") == tmp_path
    membership = Project.around(tmp_path / "scripts/train.py").membership(tmp_path / "scripts/train.py")
    assert membership.is_launched


def test_another_file_of_the_name_is_not_launched(tmp_path: Path) -> None:
    for name, text in {"launch.py": JOB, "scripts/train.py": "", "gpu/train.py": "", "setup.py": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    project = Project(tmp_path)
    launched = {name for name in ("scripts", "gpu") if project.membership(tmp_path / name / "train.py").is_launched}
    assert launched == {"scripts"}


LIBRARY = """\
import torch

class Loss(torch.nn.Module):
    def forward(self, logits, target):
        p = torch.sigmoid(logits)
        if p.max() > 0.5:
            p = p / 2
        return (p - target).square().mean()

def epoch(model, loader, optimizer, criterion, device):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


def test_all_is_for_loops_and_losses_of_a_library(tmp_path: Path) -> None:
    assert not found_in(tmp_path, "lib.py", {"lib.py": LIBRARY})
    found = found_in(tmp_path, "lib.py", {}, Settings(scope=Scope.ALL))
    assert {READ, "xla-tensor-branch"} <= set(found)


ACCELERATED = (
    "import torch\nfrom accelerate import Accelerator\naccelerator = Accelerator()\naccelerator.backward(loss)\n"
)


class TestSummary:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    def check(self, files: dict[str, str], *options: str) -> None:
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8")
        main(["check", "--no-cache", *options, *files])

    def test_says_by_which_rules(self, capsys: Captured) -> None:
        self.check(
            {"a.py": "import torch_xla", "b.py": "from accelerate import Accelerator", "c.py": "import sagemaker"}
        )
        assert capsys.readouterr().err == (
            "no findings (3 files checked, 1 of them by the Accelerate rules only, "
            "1 of them by the SageMaker rules only)\n"
        )

    def test_names_training_code_outside_and_the_option(self, capsys: Captured) -> None:
        self.check({"a.py": ACCELERATED, "b.py": LIBRARY, "c.py": "import torch"})
        note, summary = capsys.readouterr().err.splitlines()
        assert note.startswith("xla-lint: 2 files with training code belong to no XLA program")
        assert "a.py, b.py; --xla-scope=all" in note
        assert summary.endswith("1 of them by the Accelerate rules only, 2 of them outside the XLA scope)")

    def test_names_a_few_of_many(self, capsys: Captured) -> None:
        self.check({f"{name}.py": LIBRARY for name in "abcde"})
        assert ": a.py, b.py, c.py and 2 more; " in capsys.readouterr().err

    def test_is_silent_of_what_was_checked(self, capsys: Captured) -> None:
        self.check({"b.py": LIBRARY}, "--xla-scope=all")
        assert "training code" not in capsys.readouterr().err
        self.check({"b.py": "import torch_xla\n" + LIBRARY})
        assert "training code" not in capsys.readouterr().err

    def test_json_has_fields_for_it(self, capsys: Captured) -> None:
        self.check({"a.py": ACCELERATED, "b.py": LIBRARY}, "--format=json")
        assert json.loads(capsys.readouterr().out)["files"] == {
            "checked": 2,
            "outside_scope": 1,
            "accelerate_only": 1,
            "sagemaker_only": 0,
            "training_outside_scope": ["a.py", "b.py"],
        }

    def test_is_the_same_from_the_cache(self, capsys: Captured, tmp_path: Path) -> None:
        Path("a.py").write_text(ACCELERATED, encoding="utf-8")
        said = []
        for _ in range(2):
            main(["check", f"--cache-dir={tmp_path / 'kept'}", "a.py"])
            said.append(capsys.readouterr().err)
        assert said[0] == said[1]
        assert "training code" in said[0]
