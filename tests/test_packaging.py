"""What is installed is complete: it explains every rule without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.doors import HELPER, ONLY_XLA, SCRIPT
from xla_lint import __version__
from xla_lint.pages import fixtures, page
from xla_lint.rules import all_rules

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What would be published."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """A folder that holds what the wheel puts into site-packages."""
    assert wheel.name.startswith(f"xla_lint-{__version__}-")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(wheel.parent / "site")
    return wheel.parent / "site"


def test_an_index_would_take_it(wheel: Path) -> None:
    done = run(sys.executable, "-m", "twine", "check", "--strict", wheel)
    assert done.returncode == 0, done.stdout
    assert "PASSED" in done.stdout


def test_it_works_in_an_empty_environment_with_what_its_metadata_asks_for(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "empty")
    programs = tmp_path / "empty" / "bin"
    done = run(programs / "python", "-m", "pip", "install", "--quiet", wheel)
    assert done.returncode == 0, done.stderr
    assert run(programs / "python", "-m", "pip", "check").returncode == 0
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text(HELPER)
    checked = run(programs / "xla-lint", "check", "train.py", "helper.py", folder=tmp_path)
    assert (checked.returncode, checked.stdout.count("xla-value-read")) == (1, 1), checked.stderr
    linted = run(programs / "pylint", "--load-plugins=xla_lint", *ONLY_XLA, "train.py", "helper.py", folder=tmp_path)
    assert linted.stdout.count("xla-value-read") == 1, linted.stdout + linted.stderr
    assert run(programs / "xla-lint", "fix", "--diff", "train.py", folder=tmp_path).returncode == 0
    assert "xla-lint[server]" in run(programs / "xla-lint", "server", folder=tmp_path).stderr
    assert run(programs / "xla-lint", "explain", "xla-value-read", folder=tmp_path).stdout.startswith(
        "# xla-value-read"
    )


def run(*command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_wheel_carries_every_fixture(installed: Path) -> None:
    for rule in all_rules():
        carried = installed / "xla_lint" / "_fixtures" / rule.symbol
        assert [path.name for path in fixtures(rule)] == sorted(path.name for path in carried.iterdir())


def test_a_wheel_writes_the_same_pages(installed: Path) -> None:
    code = (
        "import xla_lint.pages, xla_lint.rules\n"
        "for rule in xla_lint.rules.all_rules(): print(xla_lint.pages.page(rule), end='')\n"
        "print(xla_lint.pages.__file__)"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=installed, env=environment, check=True, capture_output=True, text=True
    )
    *lines, origin = done.stdout.splitlines()
    assert Path(origin).parent == installed / "xla_lint"
    assert lines == "".join(map(page, all_rules())).splitlines()


def test_a_wheel_holds_no_tests_and_no_caches(installed: Path) -> None:
    assert {path.name.partition("-")[0] for path in installed.iterdir()} == {"xla_lint"}
    assert not list(installed.rglob("__pycache__"))
