"""The release that a project declares, in whatever file and words its tools read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from xla_lint.cli.main import main
from xla_lint.program.project.declarations import newest_admitted
from xla_lint.program.project.project import Project
from xla_lint.program.project.requirement_files import conda_specifiers, poetry_specifiers
from xla_lint.program.project.scope import Version, declared_version

OLD = "import torch_xla.core.xla_model as xm\nxm.mark_step()\nxm.get_ordinal()\n"
"""The first call is deprecated since 2.8, the second one since 2.5, and gone since 2.7."""


@pytest.fixture(autouse=True)
def _fresh() -> None:
    Project.forget()


def declared(folder: Path, **files: str) -> Version | None:
    """The release that files declare; two underscores stand for a dot, three for a slash."""
    for name, text in files.items():
        path = folder / name.replace("___", "/").replace("__", ".").replace("_dash_", "-")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return declared_version(folder)


@pytest.mark.parametrize(
    ("clauses", "newest"),
    [
        ("==2.5", (2, 5)),
        ("==2.5.1", (2, 5)),
        ("==2.5.*", (2, 5)),
        ("==2.*", (2, 99)),
        ("===2.5.0", (2, 5)),
        ("==2.5.0+cpu", (2, 5)),
        ("==2.6.0rc1", (2, 6)),
        ("<2.7", (2, 6)),
        ("<2.7.0", (2, 6)),
        ("<2.7.1", (2, 7)),
        ("<3", (2, 99)),
        ("<=2.5", (2, 5)),
        (">=2.5,<2.7", (2, 6)),
        ("<2.7,>=2.5", (2, 6)),
        (">=2.5,<=2.7", (2, 7)),
        (">=2.5,<2.7,!=2.6.*", (2, 5)),
        ("<2.7,!=2.6.0", (2, 6)),
        ("~=2.5", (2, 99)),
        ("~=2.5.0", (2, 5)),
        ("~=2.5,<2.7", (2, 6)),
        (">=2.5", None),
        (">2.5", None),
        ("!=2.5", None),
        ("", None),
        (">=3,<2", None),
    ],
)
def test_all_clauses_count(clauses: str, newest: tuple[int, int] | None) -> None:
    assert newest_admitted(SpecifierSet(clauses)) == newest


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("torch_xla>=2.5,<2.7\n", (2, 6)),
        ("torch-xla[tpu] >= 2.5, < 2.7 ; sys_platform == 'linux'\n", (2, 6)),
        ("# torch_xla==2.1\ntorch_xla==2.5  # not 2.6\n", (2, 5)),
        ("#torch_xla==2.1\n", None),
        ("torch_xla \\\n  ==2.5 \\\n  --hash=sha256:aa\n", (2, 5)),
        ("--extra-index-url https://x/torch_xla==2.1\ntorch_xla==2.5\n", (2, 5)),
        ("torch_xla @ https://x/torch_xla-2.5.0-cp310-cp310-manylinux_2_28_x86_64.whl\n", (2, 5)),
        ("https://x/torch_xla-2.5.0%2Bcpu-cp310-cp310-manylinux_2_28_x86_64.whl\n", (2, 5)),
        ("not a requirement torch_xla==2.5\ntorch_xla==2.4\n", (2, 4)),
        ("my_torch_xla==2.1\n", None),
        ("torch_xla\ntorch<2.4\n", (2, 3)),
    ],
)
def test_requirements(tmp_path: Path, text: str, version: tuple[int, int] | None) -> None:
    found = declared(tmp_path, requirements__txt=text)
    assert found == (version and Version(*version))


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"requirements_dash_tpu__txt": "torch_xla==2.4"}, (2, 4)),
        ({"dev_requirements__txt": "torch_xla==2.4"}, (2, 4)),
        ({"requirements___tpu__txt": "torch_xla==2.4"}, (2, 4)),
        ({"constraints__txt": "torch_xla==2.4"}, (2, 4)),
        ({"requirements__txt": "-r deep/tpu.txt\n", "deep___tpu__txt": "torch_xla==2.4"}, (2, 4)),
        ({"requirements__txt": "--constraint=a.txt\n-r requirements.txt", "a__txt": "torch_xla==2.4"}, (2, 4)),
        ({"pyproject__toml": "[project]\ndependencies = ['torch_xla>=2.1,<2.5']"}, (2, 4)),
        ({"pyproject__toml": "[project.optional-dependencies]\ntpu = ['torch_xla==2.4']"}, (2, 4)),
        ({"pyproject__toml": "[dependency-groups]\ntpu = [{include-group = 'x'}, 'torch_xla==2.4']"}, (2, 4)),
        ({"pyproject__toml": "# torch_xla==2.4"}, None),
        ({"pyproject__toml": "[tool.poetry.dependencies]\ntorch_xla = '~2.4'"}, (2, 4)),
        ({"pyproject__toml": "[tool.poetry.group.tpu.dependencies]\ntorch-xla = {version = '2.4.*'}"}, (2, 4)),
        ({"pyproject__toml": "[tool.poetry.dependencies]\ntorch_xla = [{version = '<2.5', python = '3'}]"}, (2, 4)),
        ({"pyproject__toml": "[tool.pdm.dev-dependencies]\ntpu = ['torch_xla==2.4']"}, (2, 4)),
        ({"pyproject__toml": "[tool.uv]\ndev-dependencies = ['torch_xla==2.4']"}, (2, 4)),
        ({"pyproject__toml": "[tool.hatch.envs.tpu]\ndependencies = ['torch_xla==2.4']"}, (2, 4)),
        ({"pyproject__toml": "torch_xla ="}, None),
        ({"setup__cfg": "[options]\ninstall_requires =\n    torch_xla>=2.1,<2.5 # why\n"}, (2, 4)),
        ({"setup__cfg": "[options.extras_require]\ntpu = torch_xla==2.4\n"}, (2, 4)),
        ({"setup__py": "from setuptools import setup\nsetup(install_requires=['torch_xla>=2.1,<2.5'])"}, (2, 4)),
        ({"setup__py": "# 'torch_xla==2.1'\nsetup(extras_require={'tpu': ['torch-xla==2.4']})"}, (2, 4)),
        ({"environment__yml": "dependencies:\n- python\n- pip:\n  - torch_xla==2.4 # why\n"}, (2, 4)),
        ({"environment__yaml": "dependencies: [python=3.11, pytorch=2.4]"}, (2, 4)),
        ({"environment_dash_tpu__yml": "dependencies:\n- conda-forge::pytorch=2.4.1=py3.11\n"}, (2, 4)),
        ({"environment__yml": "torch_xla: ["}, None),
        ({"environment__yml": "- torch_xla==2.4"}, None),
        ({"Pipfile": "[packages]\ntorch_xla = '==2.4.0'\n"}, (2, 4)),
        ({"Pipfile__lock": json.dumps({"default": {"torch-xla": {"version": "==2.4.0"}}})}, (2, 4)),
        ({"poetry__lock": "[[package]]\nname = 'torch-xla'\nversion = '2.4.0'\n"}, (2, 4)),
        ({"uv__lock": "[[package]]\nname = 'torch'\nversion = '2.4.0'\n"}, (2, 4)),
        ({"pylock__toml": "[[packages]]\nname = 'torch-xla'\nversion = '2.4.0'\n"}, (2, 4)),
        (
            {
                "pyproject__toml": "[project]\ndependencies = ['torch_xla>=2.1,<2.7']",
                "pdm__lock": "[[package]]\nname = 'torch-xla'\nversion = '2.4.0'\n",
            },
            (2, 4),
        ),
        ({"notes__txt": "torch_xla==2.4"}, None),
    ],
)
def test_files(tmp_path: Path, files: dict[str, str], version: tuple[int, int] | None) -> None:
    assert declared(tmp_path, **files) == (version and Version(*version))


@pytest.mark.parametrize(
    ("constraint", "means"),
    [
        ("^2.5", ">=2.5,<3"),
        ("^0.4.1", ">=0.4.1,<0.5"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("~2.5", ">=2.5,<2.6"),
        ("~2.5.1", ">=2.5.1,<2.6"),
        ("~2", ">=2,<3"),
        ("~=2.5", "~=2.5"),
        ("2.5.0", "==2.5.0"),
        ("2.5.*", "==2.5.*"),
        (">=2.5 <2.7", ">=2.5,<2.7"),
        (">=2.5, <2.7", ">=2.5,<2.7"),
        ("^2.1 || ^3.1", ">=3.1,<4"),
        ("*", ""),
    ],
)
def test_constraints_of_poetry(constraint: str, means: str) -> None:
    assert poetry_specifiers(constraint) == SpecifierSet(means)


@pytest.mark.parametrize(
    ("constraint", "means"),
    [
        ("=2.5", "==2.5.*"),
        ("=2.5.1=py3.11_cuda", "==2.5.1.*"),
        ("2.5.*", "==2.5.*"),
        ("2.5", "==2.5"),
        ("==2.5.1", "==2.5.1"),
        (">=2.5,<2.7", ">=2.5,<2.7"),
        (">=2.5 <2.7", ">=2.5,<2.7"),
        ("", ""),
    ],
)
def test_constraints_of_conda(constraint: str, means: str) -> None:
    assert conda_specifiers(constraint) == SpecifierSet(means)


def test_names_are_those_of_the_declared_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text(OLD)

    def found(**files: str) -> list[str]:
        for name, text in files.items():
            (tmp_path / f"{name}.txt").write_text(text)
        main(["check", str(tmp_path), "--format=concise"])
        return [line.split()[1] for line in capsys.readouterr().out.splitlines()]

    assert found(requirements="torch_xla>=2.4,<2.7\n") == ["W9762"]
    assert found(requirements="torch_xla>=2.4,<2.5\n") == []
    assert found(requirements="torch_xla>=2.4,<2.8\n") == ["E9763"]
    assert found(requirements="-r more.txt\n", more="torch_xla>=2.1,<2.5\n") == []
    assert found(more="torch_xla>=2.1\n") == ["W9762", "E9763"]
