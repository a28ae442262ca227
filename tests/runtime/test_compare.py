"""`xla-lint compare` on real runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"


def compare(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    out = folder / "out.json"
    environment = {**os.environ, "PJRT_DEVICE": "CPU", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "xla_lint", "compare", "--json", str(out), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert out.exists(), done.stderr
    result: dict[str, Any] = json.loads(out.read_text())
    return done.returncode, result


def test_a_bad_program_and_its_twin(tmp_path: Path) -> None:
    programs = [str(PROGRAMS / f"{kind}_meter" / "main.py") for kind in ("bad", "good")]
    status, result = compare(tmp_path, "--keep", str(tmp_path), *programs)
    bad, good = result["runs"]
    assert status == 0
    assert {Path(each["file"]).name for each in bad["flagged"]} == {"meters.py"}
    assert {each["flagged"] for each in bad["forced"]} == {"xla-value-read", "xla-tensor-branch"}
    assert all(each["confirmed"] for each in bad["flagged"])
    assert (good["forced"], good["flagged"]) == ([], [])
    reports = sorted(str(path) for path in tmp_path.glob("00*.json"))
    assert compare(tmp_path, *reports) == (status, result)


def test_what_the_linter_cannot_see(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, torch, torch_xla\n"
        "x = torch.ones(4, device=torch_xla.device())\n"
        "read = getattr(torch.Tensor, sys.argv[1])\n"
        "for step in range(6):\n"
        "    read((x * step).sum())\n"
        "    torch_xla.sync()\n"
    )
    status, result = compare(tmp_path, f"{script} item")
    (run,) = result["runs"]
    assert status == 1
    assert [(each["line"], each["number"], each["flagged"]) for each in run["forced"]] == [(5, 6, "")]


def test_a_script_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import time, torch_xla\ntime.sleep(600)\n")
    _, result = compare(tmp_path, "--time-limit", "1", str(script))
    assert result["runs"][0]["ended"] == "was ended by SIGTERM"
