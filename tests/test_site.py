"""The site is built from the pages without a warning: every link leads somewhere, every page is reached."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_site_is_built(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(ROOT / "docs"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rules = {path.stem for path in (ROOT / "docs" / "rules").glob("xla-*.md")}
    assert rules == {path.stem for path in (tmp_path / "rules").glob("xla-*.html")}
    assert (tmp_path / "_images" / "step-right.svg").exists()
