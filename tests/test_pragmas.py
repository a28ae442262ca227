"""Pragmas mean the same to both doors: what they mean to pylint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Door

READ = "xla-value-read"
CODE = """\
import torch_xla
{module}
{later}
for batch in loader:
    {before}
    loss.item()  {line}


def evaluate():
    {block}
    loss.item()
    return loss.item()
"""
READS = [(6, READ), (11, READ), (12, READ)]
NO_PRAGMA = dict.fromkeys(("module", "later", "before", "line", "block"), "#")

pytestmark = pytest.mark.usefixtures("calls")


@pytest.mark.parametrize(
    ("pragmas", "left"),
    [
        ({}, READS),
        ({"line": f"# pylint: disable={READ}"}, READS[1:]),
        ({"line": "# pylint: disable=W9701"}, READS[1:]),
        ({"line": "# pylint: disable=xla-lint"}, READS[1:]),
        ({"line": "# pylint: disable=W"}, READS[1:]),
        ({"line": "# pylint: disable=no-member"}, READS),
        ({"line": f"# reviewed # pylint: disable=no-member, {READ}; kept for the log"}, READS[1:]),
        ({"line": "# pylint: disable"}, READS),
        ({"before": f"# pylint: disable-next={READ}"}, READS[1:]),
        ({"block": f"# pylint: disable={READ}"}, READS[:1]),
        ({"module": f"# pylint: disable={READ}"}, []),
        ({"module": f"# pylint: disable={READ}", "block": f"# pylint: enable={READ}"}, READS[1:]),
        ({"module": f"# pylint: disable={READ}", "later": f"# pylint: enable={READ}"}, READS),
        ({"module": "# pylint: skip-file"}, []),
        ({"module": "# pylint: disable=all"}, []),
        ({"module": 'TEXT = "# pylint: skip-file"'}, READS),
    ],
)
def test_a_pragma(door: Door, tmp_path: Path, pragmas: dict[str, str], left: list[tuple[int, str]]) -> None:
    script = tmp_path / "train.py"
    script.write_text(CODE.format_map(NO_PRAGMA | pragmas))
    assert door(script) == left


def test_a_pragma_switches_advice_on(door: Door, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    enable = "# pylint: enable=xla-redundant-sync"
    script.write_text(f"import torch_xla\ntorch_xla.sync()\n\ndef end():\n    {enable}\n    torch_xla.sync()\n")
    assert door(script, "--disable=xla-redundant-sync") == [(6, "xla-redundant-sync")]


def test_the_next_file_is_untouched(door: Door, tmp_path: Path) -> None:
    silent, loud = tmp_path / "a.py", tmp_path / "b.py"
    silent.write_text("# pylint: skip-file\nimport torch_xla\nloss.item()\n")
    loud.write_text("# pylint: disable=no-member\nimport torch_xla\nloss.item()\n")
    assert door(silent) == []
    assert door(loud) == [(3, READ)]
