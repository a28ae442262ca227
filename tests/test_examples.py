"""The examples show what they say: one pitfall family each, and a clean one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from xla_lint.engine import default_symbols

EXAMPLES = Path(__file__).parent.parent / "examples"
FINDINGS = {
    "reads.py": {
        "previous.item()": {"xla-late-read"},
        "if torch.isnan(loss):": {"xla-tensor-branch"},
        "running += loss.item()": {"xla-value-read"},
        'print(f"step {step}: accuracy {accuracy}")': {"xla-print-tensor"},
        "xm.add_step_closure(": {"xla-closure-argument", "xla-value-read"},
        "logits.max().item()": {"xla-periodic-read"},
    },
    "barriers.py": {
        "for inputs, targets in batches(5, device):": {"xla-missing-sync"},
        "torch_xla.sync()": {"xla-split-step"},
        "            torch_xla.sync()": {"xla-conditional-sync"},
        "total += loss": {"xla-graph-growth"},
        "xm.mesh_reduce(": {"xla-costly-collective"},
    },
    "shapes.py": {
        "tokens = pad_sequence(": {"xla-dynamic-padding"},
        "tags = pad_sequence(": {"xla-dynamic-padding"},
        "logits[kept], tags[kept]": {"xla-data-dependent-shape"},
        "if random.random()": {"xla-host-random"},
        "scores[:, position]": {"xla-changing-constant"},
        "output = torch.cat(": {"xla-growing-tensor"},
        "host = DataLoader(": {"xla-ragged-batch"},
    },
    "clean.py": {},
}
"""What each example holds: a piece of the line, which is the first line that holds it, to the symbols."""


@pytest.fixture(scope="module")
def found() -> dict[str, dict[int, set[str]]]:
    """The symbols by line of each example, as pylint gives them."""
    command = [sys.executable, "-m", "pylint", "--load-plugins=xla_lint", "--disable=all", "--enable=xla-lint"]
    paths = [str(EXAMPLES / name) for name in FINDINGS]
    done = subprocess.run(
        [*command, "--output-format=json2", *paths], cwd=EXAMPLES.parent, capture_output=True, text=True, check=False
    )
    lines: dict[str, dict[int, set[str]]] = {name: {} for name in FINDINGS}
    for message in json.loads(done.stdout)["messages"]:
        if message["symbol"] in default_symbols():
            lines[Path(message["path"]).name].setdefault(message["line"], set()).add(message["symbol"])
    return lines


@pytest.mark.parametrize("name", FINDINGS)
def test_findings(name: str, found: dict[str, dict[int, set[str]]]) -> None:
    source = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    expected = {
        next(number for number, line in enumerate(source, 1) if piece in line): symbols
        for piece, symbols in FINDINGS[name].items()
    }
    assert found[name] == expected


def test_there_is_no_other_example() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(FINDINGS)


def test_the_readme_shows_what_the_command_says() -> None:
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```text\n")[2].partition("```")[0].splitlines()
    done = subprocess.run(
        [sys.executable, "-m", "xla_lint", "check", "examples"],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    said = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    assert done.returncode == 1
    assert len(shown) > 3
    assert [line for line in shown if line != "…" and line not in said] == []
