"""What is installed is complete: it explains every rule without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from xla_lint import __version__
from xla_lint.pages import fixtures, page
from xla_lint.rules import all_rules

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what the wheel puts into site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.startswith(f"xla_lint-{__version__}-")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


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
