"""Notebooks: cells in order, what IPython adds to Python, and findings by cell and line."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doors import ONLY_XLA
from xla_lint.cli.main import main
from xla_lint.cli.notebook import OtherLanguageError, read_notebook, translated
from xla_lint.program.project.source import SourceError

Captured = pytest.CaptureFixture[str]
IMPORTS = "import torch\nimport torch_xla\nimport torch_xla.distributed.xla_multiprocessing as xmp"
MODEL = "device = torch_xla.device()\nmodel = torch.nn.Linear(3, 3).to(device)"
LOOP = """\
for step in range(10):
    loss = model(torch.ones(3, 3, device=device)).sum()
    loss.backward()
    total = loss.item()
    torch_xla.sync()"""
READ = (4, "xla-value-read")


def notebook(*cells: str, text: tuple[int, ...] = (), **metadata: Any) -> dict[str, Any]:
    """A notebook of code cells; those whose index is in `text` are text."""
    kinds = ["markdown" if index in text else "code" for index in range(len(cells))]
    listed = [
        {"cell_type": kind, "metadata": {}, "source": cell.splitlines(keepends=True)}
        for kind, cell in zip(kinds, cells, strict=True)
    ]
    return {"cells": listed, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def python(cell: str) -> str:
    return "".join(translated(cell))


def found(document: dict[str, Any], folder: Path, capsys: Captured, *options: str) -> list[tuple[int, int, str]]:
    """The cell, line and symbol of each finding in a notebook."""
    path = folder / "train.ipynb"
    path.write_text(json.dumps(document))
    main(["check", str(path), "--format=json", *options])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return [(finding["cell"], finding["line"], finding["symbol"]) for finding in findings]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install a==1.0 \\\n  b\nx = 1", "pass\n\nx = 1"),
        ("if colab:\n    !ls\nelse:\n    x = 1", "if colab:\n    pass\nelse:\n    x = 1"),
        ("files = !ls", "files = get_ipython().run()"),
        ("a, b = %sql select 1", "a, b = get_ipython().run()"),
        ("model?", "pass"),
        ("model.forward??  # source", "pass"),
        ("?model", "pass"),
        ("%time y = f(x)", "if 1: y = f(x)"),
        ("%time for y in x: f(y)", "y = get_ipython().run()"),
        ("%%bash\necho 'it\necho", "\n\n"),
        ("# note\n\n%%time\nx = 1", "\n\n\nx = 1"),
        ("x = (a\n     %b)\n!ls", "x = (a\n     %b)\npass"),
        ('x = """\n!no\n?no\n"""\n!ls', 'x = """\n!no\n?no\n"""\npass'),
        ('print("lr=%f" % x)\n!ls', 'print("lr=%f" % x)\npass'),
        ("x = a if a != b else 'what?'", "x = a if a != b else 'what?'"),
        ("x = await f()\nasync for y in x:\n    pass", "x = await f()\nasync for y in x:\n    pass"),
    ],
)
def test_what_ipython_adds_keeps_its_lines(cell: str, expected: str) -> None:
    assert python(cell) == expected
    ast.parse(python(cell))


class TestFindings:
    def test_cells_share_their_state_and_are_counted_with_text(self, tmp_path: Path, capsys: Captured) -> None:
        document = notebook("# A title", IMPORTS, "%%bash\nls\nls", MODEL, "text", f"%%time\n{LOOP}", text=(0, 4))
        assert found(document, tmp_path, capsys) == [(6, 5, "xla-value-read")]

    def test_a_device_touched_in_an_earlier_cell_than_the_launch(self, tmp_path: Path, capsys: Captured) -> None:
        run = "def run(index):\n    print(index)"
        document = notebook(IMPORTS, "device = torch_xla.device()", run, "torch_xla.launch(run)")
        assert found(document, tmp_path, capsys) == [(2, 1, "xla-device-before-launch")]
        swapped = notebook(IMPORTS, run, "torch_xla.launch(run)", "device = torch_xla.device()")
        assert found(swapped, tmp_path, capsys) == []

    def test_a_comment_silences(self, tmp_path: Path, capsys: Captured) -> None:
        silenced = LOOP.replace(".item()", ".item()  # pylint: disable=xla-value-read")
        assert found(notebook(IMPORTS, MODEL, silenced), tmp_path, capsys) == []

    def test_an_indented_cell_keeps_its_columns(self, tmp_path: Path, capsys: Captured) -> None:
        indented = "\n".join(f"  {line}" for line in LOOP.split("\n"))
        path = tmp_path / "train.ipynb"
        path.write_text(json.dumps(notebook(IMPORTS, MODEL, indented)))
        main(["check", str(path)])
        heading, line, carets = capsys.readouterr().out.splitlines()
        assert heading.startswith(f"{path}:cell 3:4:15: W9701")
        assert line[carets.index("^") :].startswith("loss.item()")

    def test_other_files_of_the_project_are_followed(self, tmp_path: Path, capsys: Captured) -> None:
        (tmp_path / "pyproject.toml").touch()
        (tmp_path / "helpers.py").write_text(f"import torch\nimport torch_xla\n{MODEL}\n")
        document = notebook("import torch\nimport torch_xla\nfrom helpers import model, device", LOOP)
        assert found(document, tmp_path, capsys) == [(2, *READ)]

    def test_messages_name_the_cells_of_other_lines(self, tmp_path: Path, capsys: Captured) -> None:
        path = tmp_path / "train.ipynb"
        path.write_text(json.dumps(notebook(IMPORTS, MODEL, LOOP)))
        assert main(["check", str(path), "--format=github"]) == 1
        output = capsys.readouterr().out
        assert f"file={path},title=W9701 xla-value-read::cell 3:4:13: " in output
        assert "(computed on line 2 of cell 3)" in output

    def test_from_standard_input(self, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
        source = json.dumps(notebook(IMPORTS, MODEL, LOOP)).encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(source)))
        assert main(["check", "-", "--stdin-filename=train.ipynb"]) == 1
        assert capsys.readouterr().out.startswith("train.ipynb:cell 3:4:13: ")

    def test_below_a_folder(self, tmp_path: Path, capsys: Captured) -> None:
        for folder in ("", ".ipynb_checkpoints"):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / "train.ipynb").write_text(json.dumps(notebook(IMPORTS, MODEL, LOOP)))
        assert main(["check", str(tmp_path)]) == 1
        assert capsys.readouterr().err == "1 finding in 1 file (1 file checked)\n"


class TestBadCells:
    def test_the_others_are_checked(self, tmp_path: Path, capsys: Captured) -> None:
        path = tmp_path / "train.ipynb"
        path.write_text(json.dumps(notebook(IMPORTS, MODEL, "x = 1\nx = = 1", LOOP)))
        assert main(["check", str(path)]) == 2
        output = capsys.readouterr()
        assert output.err.startswith(f"xla-lint: {path}:cell 3:2: syntax error: ")
        assert output.out.startswith(f"{path}:cell 4:4:13: W9701")

    @pytest.mark.parametrize(
        ("cell", "names"),
        [
            ("model, x = load( = 1", "model x"),
            ("def model(:\n  pass", "model"),
            ("import a.b as model, = 3", "a model"),
            ("for i in : x: int = f(y)\nz += (w := 2", "i x z w"),
            ("f(a == b, c.d = 1", ""),
        ],
    )
    def test_what_they_may_bind_is_unknown_afterwards(self, cell: str, names: str) -> None:
        source = json.dumps(notebook(cell)).encode()
        text = read_notebook("x.ipynb", source).text
        assert text.rstrip("\n") == " = ".join([*names.split(), "get_ipython().run()"])
        assert text.count("\n") == cell.count("\n") + 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"", "not valid JSON"),
        (b'{"cells": [', "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b"\xff\xfe", "byte 0xff is not utf-8"),
        (b"{}", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b'{"worksheets": 3}', "no list of cells"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_notebook(source: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_notebook("x.ipynb", source)


@pytest.mark.parametrize("source", [b"", b'{"cells": [', b"[1]", b"\xff\xfe", b"{}"])
def test_what_is_no_notebook_passes_for_none_whatever_it_holds(tmp_path: Path, capsys: Captured, source: bytes) -> None:
    (tmp_path / "x.ipynb").write_bytes(source)
    assert main(["check", str(tmp_path)]) == 2
    assert "x.ipynb" in capsys.readouterr().err


@pytest.mark.parametrize("text", ['{"worksheets": []}', '{"cells": [], "metadata": {"language_info": {"name": "R"}}}'])
def test_what_can_be_read_and_holds_no_torch_is_outside(tmp_path: Path, capsys: Captured, text: str) -> None:
    (tmp_path / "x.ipynb").write_text(text)
    assert main(["check", str(tmp_path)]) == 0
    assert "1 of them outside" in capsys.readouterr().err


@pytest.mark.parametrize(
    "cells",
    [[None, 3, {"cell_type": "code"}], [{"cell_type": "code", "source": None}], [{"cell_type": 3, "source": ["x"]}]],
)
def test_cells_without_source_hold_nothing(cells: list[Any]) -> None:
    assert not read_notebook("x.ipynb", json.dumps({"cells": cells}).encode()).text.strip()


def test_cells_of_an_older_format_lie_in_worksheets() -> None:
    code = {"cell_type": "code", "language": "python", "input": ["x = 1\n", "y = 2"]}
    other = {"cell_type": "code", "language": "haskell", "input": "x <- 1"}
    sheets = [{"cells": [{"cell_type": "heading", "source": "T"}, code, other]}, None, {"cells": [code]}]
    read = read_notebook("x.ipynb", json.dumps({"nbformat": 3, "worksheets": sheets}).encode())
    assert read.text == "x = 1\ny = 2\n" * 2
    assert [cell.number for cell in read.cells] == [2, 4]


def test_a_byte_order_mark_is_passed_over() -> None:
    source = json.dumps(notebook("x = 1")).encode("utf-8-sig")
    assert read_notebook("x.ipynb", source).text == "x = 1\n"


def test_another_language_is_skipped_in_one_line(tmp_path: Path, capsys: Captured) -> None:
    document = notebook("using torch_xla", language_info={"name": "julia"})
    with pytest.raises(OtherLanguageError, match="julia"):
        read_notebook("x.ipynb", json.dumps(document).encode())
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps(document))
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().err.splitlines()[0] == f"xla-lint: {path}: skipped, it is a notebook in julia"


def test_pylint_through_nbqa(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps(notebook(IMPORTS, "%matplotlib inline", MODEL, LOOP)))
    command = [sys.executable, "-m", "nbqa", "pylint", "--load-plugins=xla_lint", *ONLY_XLA, str(path)]
    output = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent.parent, check=False)
    assert "train.ipynb:cell_4:4:12: W9701: " in output.stdout


@pytest.mark.parametrize(
    ("command", "symbols"),
    [
        ("!pip install torch_xla==1.13", []),
        ("%pip install -q \\\n  'torch~=2.6.0' torchvision", ["xla-deprecated-api"]),
        ("! pip3 install https://example.org/torch_xla-1.9-cp37-cp37m-linux_x86_64.whl", []),
        ("!python -m pip install torch_xla", ["xla-removed-api"]),
        ("!pip install numpy==1.0", ["xla-removed-api"]),
    ],
)
def test_a_notebook_pins_what_it_installs(command: str, symbols: list[str], tmp_path: Path, capsys: Captured) -> None:
    document = notebook(command, "import torch_xla.core.xla_model as xm\nrank = xm.get_ordinal()")
    assert [symbol for _, _, symbol in found(document, tmp_path, capsys)] == symbols
