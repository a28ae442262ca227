"""What the command teaches: why a finding holds, what it costs, and what would help most."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doors import HELPER, SCRIPT
from xla_lint.cli.cost import changes, price, remedy_of
from xla_lint.cli.formats.text import again, proposals
from xla_lint.cli.main import main
from xla_lint.cli.results import Located
from xla_lint.places import Extent
from xla_lint.rules import all_rules

Captured = pytest.CaptureFixture[str]
READ, LATE, SHAPE, SYNC = "xla-value-read", "xla-late-read", "xla-changing-shape", "xla-missing-sync"


def finding(symbol: str, line: int = 1, severity: str = "warning", confidence: str = "HIGH", **more: str) -> Located:
    message = more.get("message", f"'x' costs; mend {symbol}")
    return Located(
        more.get("path", "a.py"), Extent(line, 1, line, 2), "W9700", symbol, severity, confidence, message, "x"
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a program of two files."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("train.py", SCRIPT), ("helper.py", HELPER), ("requirements.txt", "")):
        (tmp_path / name).write_text(text)
    return tmp_path


class TestReasons:
    @pytest.mark.usefixtures("folder")
    def test_why_this_is_a_step_a_tensor_and_pending(self, capsys: Captured) -> None:
        assert main(["check", ".", "--verbose"]) == 1
        _, _, _, *lines = capsys.readouterr().out.splitlines()
        assert [line.strip().split(": ")[0] for line in lines] == [
            *(f"because train.py:{number}" for number in (9, 10, 10, 14, 15)),
            "HIGH",
        ]
        for line, part in zip(
            lines,
            [
                "a step loop: each turn runs a backward pass, steps an optimizer, calls a model",
                "a model on the device (moved on line 6) is called here",
                "computed here, on the device, and pending: no path from here to the read passes a barrier",
                "'note' is called here",
                "torch_xla.sync() is a barrier of this loop",
            ],
            strict=False,
        ):
            assert part in line

    @pytest.mark.usefixtures("folder")
    def test_only_on_request(self, capsys: Captured) -> None:
        main(["check", "."])
        assert "because" not in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("line", "read", "part"),
        [
            (
                "    if step % 2: torch_xla.sync()\n    print(loss.item())\n",
                15,
                "a path from here to the read passes",
            ),
            ("    torch_xla.sync()\n    print(loss.item())\n", 15, "a barrier before the read has it executed"),
        ],
    )
    def test_pending_on_some_path_or_not_at_all(
        self, folder: Path, capsys: Captured, line: str, read: int, part: str
    ) -> None:
        text = SCRIPT.replace("for _", "for step").replace("    total = note(total, loss)\n", line)
        (folder / "train.py").write_text(text)
        main(["check", "train.py", "-v"])
        output = capsys.readouterr().out
        assert f"train.py:{read}:" in output
        assert part in output


class TestCost:
    def test_what_weighs_more(self) -> None:
        ordered = [
            finding("xla-removed-api", severity="error"),
            finding(SHAPE),
            finding(READ),
            finding(READ, confidence="INFERENCE"),
            finding(LATE, severity="refactor"),
            finding("xla-redundant-sync", severity="advice"),
        ]
        assert sorted(ordered, key=price, reverse=True) == ordered
        assert price(finding(SYNC)) > price(finding(READ))

    def test_what_was_measured_is_told(self) -> None:
        assert price(finding(SHAPE)).words() == "1 compilation more a step in the rule's examples"
        assert price(finding(SYNC)).words() == "the graph grows every step in the rule's examples"
        assert price(finding("xla-removed-api")).words() == ""

    def test_every_rule_has_a_price(self) -> None:
        assert all(price(finding(rule.symbol)).compiles >= 0 for rule in all_rules())

    def test_sorted_on_request(self, folder: Path, capsys: Captured) -> None:
        (folder / "a_late.py").write_text(
            SCRIPT.replace("total = note(total, loss)", "torch_xla.sync()\n    loss.item()")
        )
        (folder / "z_gone.py").write_text("import torch_xla.core.xla_model as xm\nxm.get_ordinal()\n")

        def order(*options: str) -> list[str]:
            main(["check", ".", "--format=concise", *options])
            return [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]

        assert order() == ["a_late.py", "helper.py", "z_gone.py"]
        assert order("--sort=cost") == ["z_gone.py", "helper.py", "a_late.py"]


class TestChanges:
    def test_the_same_remedy_in_a_file_is_one_change(self) -> None:
        found = [finding(READ, 1), finding(READ, 5), finding(READ, 6, path="b.py"), finding(SHAPE, 7)]
        assert [(change.findings[0].symbol, len(change.findings)) for change in changes(found)] == [
            (SHAPE, 1),
            (READ, 2),
            (READ, 1),
        ]

    def test_the_remedy_is_the_last_part_of_the_message(self) -> None:
        message = "x is read; it costs; read it later (part of the XLA program a/b.py)"
        assert remedy_of(finding(READ, message=message)) == "read it later"

    def test_three_are_proposed_of_more(self) -> None:
        found = [finding(symbol, line) for line, symbol in enumerate((LATE, READ, SHAPE, SYNC, READ), 1)]
        _, title, first, second, third, _ = proposals(found)
        assert title == "What would help most:"
        assert first.startswith("  1. a.py:4: mend xla-missing-sync (xla-missing-sync: the graph grows every step")
        assert second.startswith("  2. a.py:3: mend xla-changing-shape (xla-changing-shape: 1 compilation more")
        assert third.startswith("  3. a.py:2 (also on line 5): mend xla-value-read (xla-value-read: 1.5 executions")

    def test_few_are_not_said_twice(self) -> None:
        assert proposals([finding(READ), finding(SHAPE), finding(SYNC)]) == []

    def test_where_else(self) -> None:
        first, beside = finding(READ, 3), finding(READ, 3)._replace(place=Extent(3, 9, 3, 10))
        assert again(first, []) == ""
        assert again(first, [beside]) == " (also in column 9)"
        assert again(first, [beside, finding(READ, 5), finding(READ, 8)]) == " (also in column 9 and on lines 5, 8)"


def test_a_page_goes_through_the_pager(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("pydoc.pager", shown.append)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["explain", READ]) == 0
    assert "What it does" in "".join(shown)
    assert capsys.readouterr().out == ""
