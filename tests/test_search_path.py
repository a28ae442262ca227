"""Where Python would find the modules of a program: its scripts' folders, `src`, and what scripts add to `sys.path`."""

from __future__ import annotations

from pathlib import Path

import pytest

from xla_lint.program.project.project import Project
from xla_lint.program.project.search_path import added_folders

HERE = Path("/work/tools/train.py")
SPELLINGS = {
    "sys.path.insert(0, str(pathlib.Path(__file__).parent / 'lib'))": "/work/tools/lib",
    "sys.path.append(str(Path(__file__).resolve().parents[1]))": "/work",
    "sys.path.append(os.path.join(os.path.dirname(__file__), '..', 'lib'))": "/work/lib",
    "sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))": "/work",
    "here = os.path.dirname(__file__)\nsys.path.extend([here + '/lib'])": "/work/tools/lib",
    "ROOT = Path(__file__).parent.parent\nsys.path = [os.fspath(ROOT.joinpath('lib'))] + sys.path": "/work/lib",
    "HERE = os.path.dirname(__file__)\nsys.path += [f'{HERE}/lib']": "/work/tools/lib",
    "for name in ('../lib',):\n    if name not in sys.path:\n        sys.path.append(name)": "/work/lib",
    "sys.path.append(os.path.join(os.pardir, 'lib'))": "/work/lib",
    "sys.path.append(os.environ['LIB'])": None,
    "sys.path.append(str(unknown / 'lib'))": None,
    "sys.path.remove('lib')": None,
    "sys.path.append('lib'": None,
}


@pytest.mark.parametrize(("spelling", "folder"), SPELLINGS.items())
def test_the_folders_that_a_script_adds(spelling: str, folder: str | None) -> None:
    found = added_folders(spelling.encode(), HERE, HERE.parent)
    assert found == (frozenset() if folder is None else {Path(folder)})


def test_a_relative_folder_may_start_at_the_root() -> None:
    assert added_folders(b"sys.path.append('lib')", HERE, Path("/work")) == {Path("/work/lib"), Path("/work/tools/lib")}


SCRIPT = """
import sys, pathlib
import torch, torch_xla
{adding}
from part.meter import Meter

meter, device = Meter(), torch_xla.device()
for _ in range(9):
    meter.add(torch.ones(2, device=device).mean())
    torch_xla.sync()
"""
METER = """
class Meter:
    def add(self, loss):
        self.total = loss.item()
"""
ADDING = "sys.path.insert(0, str(pathlib.Path(__file__).parent / '{}'))"
LAYOUTS = {
    "beside the script": ("main.py", "part/meter.py", "", ""),
    "in src, by convention": ("main.py", "src/part/meter.py", "", ""),
    "in a folder that the script adds": ("main.py", "lib/part/meter.py", "lib", ""),
    "above the script, in a repository": ("tools/main.py", "part/meter.py", "..", "setup.py"),
    "in a folder added in a repository": ("main.py", "lib/part/meter.py", "lib", "setup.py"),
    "in src of a part of a repository": ("a/b/main.py", "a/src/part/meter.py", "", "setup.py"),
    "in a folder added below a repository": ("a/tools/main.py", "a/lib/part/meter.py", "../lib", "setup.py"),
}


@pytest.mark.parametrize("package", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_module_is_part_of_the_script_that_finds_it(
    tmp_path: Path, layout: tuple[str, str, str, str], package: bool
) -> None:
    script, part, adding, marker = layout
    folder = (tmp_path / part).parent
    for path in (tmp_path / script, folder / "x"):
        path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / script).write_text(SCRIPT.format(adding=ADDING.format(adding) if adding else ""))
    (folder / "meter.py").write_text(METER)
    if package:
        (folder / "__init__.py").touch()
    if marker:
        (tmp_path / marker).touch()
    for project in (Project.around(folder / "meter.py"), Project.around(tmp_path / script)):
        assert project.membership(folder / "meter.py").programs == (tmp_path / script,)
    Project.forget()


def test_a_script_without_a_marker_belongs_with_the_package_above_it(tmp_path: Path) -> None:
    for path in ("part/__init__.py", "tools/main.py"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).touch()
    (tmp_path / "tools/main.py").write_text(SCRIPT.format(adding=ADDING.format("..")))
    assert Project.around(tmp_path / "tools/main.py") is Project.around(tmp_path / "part/__init__.py")
    Project.forget()


def test_a_folder_counts_where_the_script_that_adds_it_lies(tmp_path: Path) -> None:
    for path in ("setup.py", "a/lib/tool.py", "a/main.py", "b/other.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "a/main.py").write_text(ADDING.format("lib"))
    project = Project(tmp_path)
    assert project.resolve("tool", 0, tmp_path / "a/main.py") == tmp_path / "a/lib/tool.py"
    assert project.resolve("tool", 0, tmp_path / "b/other.py") is None
