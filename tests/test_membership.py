"""What a file takes part in: by its own statements, through others, and as a program of its own."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.doors import pylint
from xla_lint.cli.main import main
from xla_lint.program.backend.frameworks import LIGHTNING
from xla_lint.program.interpreter import programs
from xla_lint.program.project import project as projects
from xla_lint.program.project import trees
from xla_lint.program.project.cycles import gathered
from xla_lint.program.project.file_summary import FileSummary
from xla_lint.program.project.membership import Membership
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Domain, Scope
from xla_lint.program.project.source import parse
from xla_lint.program.project.statements import MODULES, PACKAGES, may_take_part, stated_by, stated_in

XLA, ACCELERATE = frozenset({Domain.XLA}), frozenset({Domain.ACCELERATE})
NOTHING = frozenset[Domain]()
JOB = 'PyTorch(entry_point="{}", instance_type="ml.trn1.2xlarge")\n'


class Stated(NamedTuple):
    source: str
    domains: frozenset[Domain]
    commits: bool = False
    requires: bool = False


SOURCES = {
    "an import": Stated("import torch_xla", XLA, commits=True, requires=True),
    "a part of it": Stated("from torch_xla.core import xla_model", XLA, commits=True, requires=True),
    "among others": Stated("import os, torch_xla.runtime", XLA, commits=True, requires=True),
    "an import in a function": Stated("def f():\n    import torch_xla", XLA),
    "an import that may fail": Stated("try:\n    import torch_xla\nexcept ImportError:\n    pass", XLA),
    "a function for replicas": Stated("def _mp_fn(index):\n    pass", XLA, commits=True),
    "a trainer on a TPU": Stated("import lightning\nlightning.Trainer(accelerator='tpu')", XLA, commits=True),
    "an accelerator": Stated("from accelerate import Accelerator", ACCELERATE),
    "torch alone": Stated("import torch", NOTHING),
    "a longer name": Stated("import torch_xla_tools", NOTHING),
    "a comment": Stated("import torch  # not torch_xla", NOTHING),
}


@pytest.mark.parametrize("case", SOURCES.values(), ids=SOURCES)
class TestStatements:
    def test_are_told_from_bytes(self, case: Stated) -> None:
        stated = stated_in(case.source.encode())
        assert (stated.domains, stated.commits_to_xla, stated.requires_xla) == case[1:]

    def test_are_the_same_in_the_tree(self, case: Stated) -> None:
        assert stated_by(parse(case.source, "train.py"), Scope.AUTO) == case.domains

    def test_pass_the_cheap_test(self, case: Stated) -> None:
        assert may_take_part(case.source.encode(), Scope.AUTO) or not case.domains


@pytest.mark.parametrize("name", [*sorted(PACKAGES), *(n for n in MODULES if n != "lightning.strategies.xla")])
def test_every_package_is_found_by_each_way_of_looking(name: str) -> None:
    source = f"from {name} import something"
    assert may_take_part(source.encode(), Scope.AUTO)
    assert stated_in(source.encode()).domains == stated_by(parse(source, "train.py"), Scope.AUTO) == XLA


def test_a_keyword_alone_asks_no_trainer_for_a_tpu() -> None:
    source = "import {}\nrun(accelerator='tpu')"
    assert not stated_by(parse(source.format("training"), "train.py"), Scope.AUTO)
    assert all(stated_by(parse(source.format(name), "train.py"), Scope.AUTO) == XLA for name in LIGHTNING)


@pytest.mark.parametrize(
    ("source", "launched"),
    [
        ("import sagemaker\n" + JOB.format("./jobs/train.py"), {"jobs/train.py"}),
        (JOB.format("train.py"), set()),
        ("import sagemaker\n" + JOB.format("train.py").replace("trn1", "p4d"), set()),
        ("import sagemaker\n" + JOB.format("a.py") + JOB.format("b.py"), {"a.py", "b.py"}),
    ],
)
def test_a_launch_script_names_its_entry_points(source: str, launched: set[str]) -> None:
    assert stated_in(source.encode()).launches == launched


FILES = {
    "pyproject.toml": "",
    "train.py": "import torch_xla\nimport lib.model\nimport lib.data",
    "other.py": "from lib import model\nimport lib.unused_xla",
    "plain.py": "import lib.data",
    "lib/__init__.py": "",
    "lib/model.py": "import torch\nfrom lib import layers",
    "lib/layers.py": "import torch",
    "lib/data.py": "import torch\nif __name__ == '__main__':\n    pass",
    "lib/unused_xla.py": "import torch_xla",
    "tests/test_lib.py": "import torch_xla\nfrom lib import layers",
    "round/a.py": "import b\nimport torch_xla",
    "round/b.py": "import a",
    "launch.py": "import sagemaker\n" + JOB.format("job.py"),
    "jobs/job.py": "import torch",
}
EXPECTED: dict[str, dict[str, Any]] = {
    "train.py": {"own": XLA, "as_program": XLA, "is_script": True, "requires_xla": True, "commits_to_xla": True},
    "other.py": {"own": NOTHING, "through": XLA, "as_program": XLA, "requires_xla": False, "commits_to_xla": True},
    "plain.py": {"through": NOTHING, "as_program": NOTHING, "commits_to_xla": False},
    "lib/model.py": {"own": NOTHING, "through": XLA, "programs": ("other.py", "train.py"), "is_script": False},
    "lib/layers.py": {"through": XLA, "programs": ("other.py", "train.py")},
    "lib/data.py": {"through": XLA, "programs": ("train.py",), "is_script": True, "commits_to_xla": False},
    "round/b.py": {"programs": ("round/a.py",), "as_program": XLA, "is_script": True, "commits_to_xla": True},
    "jobs/job.py": {"own": NOTHING, "through": XLA, "is_launched": True, "programs": ()},
    "launch.py": {"own": NOTHING, "through": NOTHING, "is_launched": False},
}


def written(root: Path, files: dict[str, str]) -> Project:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Project(root)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_record_tells_what_a_file_takes_part_in(tmp_path: Path, name: str) -> None:
    record = written(tmp_path, FILES).membership(tmp_path / name)
    for what, expected in EXPECTED[name].items():
        found = getattr(record, what)
        if what == "programs":
            found = tuple(str(path.relative_to(tmp_path)) for path in found)
        assert found == expected, what


def test_a_test_is_no_program_of_what_it_tests_but_of_its_helpers(tmp_path: Path) -> None:
    files = {**FILES, "tests/helper.py": "import torch", "tests/test_it.py": "import torch_xla\nimport helper"}
    project = written(tmp_path, files)
    assert tmp_path / "tests/test_lib.py" not in project.membership(tmp_path / "lib/layers.py").programs
    assert project.membership(tmp_path / "tests/helper.py").programs == (tmp_path / "tests/test_it.py",)


def test_what_is_outside_the_project_is_a_script_of_its_own(tmp_path: Path) -> None:
    assert written(tmp_path, FILES).membership(Path("/elsewhere.py")) == Membership()


def test_an_answer_is_noted_as_it_is_asked_again(tmp_path: Path) -> None:
    project = written(tmp_path, FILES)
    with project.recording() as noted:
        project.membership(tmp_path / "lib/layers.py")
    kept = json.loads(json.dumps([[*question, answer] for question, answer in noted.items()]))
    asked = {(kind, path): answer for kind, path, answer in kept}
    assert Project(tmp_path).still_answers(asked)
    (tmp_path / "other.py").write_text("import torch", encoding="utf-8")
    assert not Project(tmp_path).still_answers(asked)


def test_a_summary_survives_json(tmp_path: Path) -> None:
    project = written(tmp_path, FILES)
    for path in project.files:
        summary = project.summary(path)
        assert FileSummary.unpacked(json.loads(json.dumps(summary.packed()))) == summary


@pytest.mark.parametrize("seed", range(20))
def test_what_files_gather_is_what_they_lead_to(seed: int) -> None:
    choose = random.Random(seed)
    files = [Path(str(number)) for number in range(12)]
    imports = {file: set(choose.sample(files, choose.randint(0, 3))) for file in files}
    own = {file: frozenset({file.name}) for file in files}
    for file, found in gathered(imports, own).items():
        reached = {file}
        while more := {target for part in reached for target in imports[part]} - reached:
            reached |= more
        assert found == {part.name for part in reached}


HELPED = {
    "pyproject.toml": "",
    "train.py": "import torch_xla\nimport one, two\nfor x in y:\n    one.f(x)\n    two.f(x)\n    torch_xla.sync()\n",
    "one.py": "def f(x):\n    return x\n",
    "two.py": "def f(x):\n    return x\n",
}


class TestWork:
    """A file is parsed once, and a program is run once, in whatever order its files are checked."""

    @pytest.fixture
    def parsed(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        names: list[str] = []

        def noted(text: str, path: str | Path) -> Any:
            names.append(Path(path).name)
            return parse(text, path)

        monkeypatch.setattr(projects, "parse", noted)
        monkeypatch.setattr(trees, "parse", noted)
        return names

    @pytest.fixture
    def run(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        names: list[str] = []
        before = programs.run_programs

        def noted(entry: Any, *rest: Any, **options: Any) -> Any:
            names.append(Path(entry.file).name)
            return before(entry, *rest, **options)

        monkeypatch.setattr(programs, "run_programs", noted)
        return names

    @pytest.mark.parametrize("order", [("train.py", "one.py", "two.py"), ("two.py", "train.py", "one.py")])
    def test_is_done_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[str], run: list[str], order: tuple[str, ...]
    ) -> None:
        written(tmp_path, HELPED)
        monkeypatch.chdir(tmp_path)
        main(["check", "--no-cache", "--jobs=1", *order])
        assert sorted(parsed) == ["one.py", "train.py", "two.py"]
        assert run == ["train.py"]

    def test_uses_the_trees_of_pylint(self, tmp_path: Path, parsed: list[str], run: list[str]) -> None:
        written(tmp_path, HELPED)
        pylint(tmp_path / "one.py", tmp_path / "train.py", tmp_path / "two.py")
        assert run == ["train.py"]
        assert "one.py" not in parsed
