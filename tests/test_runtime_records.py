"""The runtime's records and dumped graphs, read without torch."""

from __future__ import annotations

import resource
import runpy
import zipfile
from pathlib import Path

import pytest

from tests.test_runtime_differences import hlo
from xla_lint.runtime.graphs import Dumps
from xla_lint.runtime.logs import DebugLog
from xla_lint.runtime.places import Frame, Place, own, place_of
from xla_lint.runtime.records import COMPILE, EXECUTION, MEMORY, REFUSED, Memory, Record, RecordParser
from xla_lint.runtime.sources import line_of
from xla_lint.runtime.strays import Strays


def block(kind: str, cause: str, *frames: str) -> str:
    lines = [
        "=" * 80,
        f"{kind} Cause",
        f"  {cause}",
        "Graph Info: ",
        "  Graph Hash: 510c570d",
        "  Number of Graph Inputs: 2",
        "  Number of Graph Outputs: 1",
        "Python Frame Triggered Execution: ",
        *(f"  {frame}" for frame in frames),
        "-" * 80,
        "=" * 80,
    ]
    return "\n" + "".join(f"{kind} Analysis: {line}\n" for line in lines)


SYNC = "sync (/env/site-packages/torch_xla/torch_xla.py:87)"
STEP = "step (/home/me/train.py:9)"
COMPILATION = block("Compilation", "user torch_xla.sync", SYNC, STEP) + "\nComputation hash: 8424\n"
RUN = block("Execution", "user torch_xla.sync", SYNC, STEP)
FRAMES = (Frame("/env/site-packages/torch_xla/torch_xla.py", 87, "sync"), Frame("/home/me/train.py", 9, "step"))


def test_a_record() -> None:
    (record,) = RecordParser().feed(RUN)
    assert record == Record(EXECUTION, "user torch_xla.sync", "510c570d", 2, 1, FRAMES)
    assert own(record.frames) == FRAMES[1]


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
def test_however_the_text_is_cut(size: int) -> None:
    text = (COMPILATION + RUN + RUN) * 3 + "\nComputation hash: 1\n"
    parser = RecordParser()
    kinds = [record.kind for at in range(0, len(text), size) for record in parser.feed(text[at : at + size])]
    assert kinds == [COMPILE, EXECUTION, EXECUTION] * 3 + [COMPILE]


SIZES = """
Post Compilation Analysis: ====================
Post Compilation Analysis: Graph input size: 0.002237 GB
Post Compilation Analysis: Graph output size: 0.004030 GB
Post Compilation Analysis: Aliased Input size: 0.001343 GB
Post Compilation Analysis: Intermediate tensor size: 0.000029 GB
Post Compilation Analysis: Compiled program size: 0.000000 GB
Post Compilation Analysis: --------------------
Post Compilation Analysis: ====================
"""


@pytest.mark.parametrize("size", [1, 50, 5000])
def test_what_a_graph_needs(size: int) -> None:
    text, parser = COMPILATION + SIZES + RUN, RecordParser()
    records = [record for at in range(0, len(text), size) for record in parser.feed(text[at : at + size])]
    assert [record.kind for record in records] == [COMPILE, MEMORY, EXECUTION]
    assert records[1].memory == Memory(2401960, 4327180, 1442035, 31139, 0)
    assert records[1].memory.total == 5318244


def test_sizes_that_are_told_otherwise_are_left_out() -> None:
    assert [record.kind for record in RecordParser().feed(SIZES.replace("Aliased", "Shared") + RUN)] == [EXECUTION]


def test_a_compilation_without_a_frame_is_counted() -> None:
    records = list(RecordParser().feed("\nComputation hash: 1\n" + COMPILATION))
    assert [bool(record.frames) for record in records] == [False, True]


def test_the_first_run_of_what_dynamo_compiled_is_no_compilation() -> None:
    (record,) = RecordParser().feed(block("Compilation", "dynamo is executing a compiled program", STEP))
    assert record.kind == EXECUTION


def test_a_million_records_in_bounded_memory() -> None:
    piece = "".join(block("Execution", "user torch_xla.sync", f"step (/home/me/train.py:{n})") for n in range(1000))
    parser = RecordParser()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert sum(1 for _ in range(1000) for _ in parser.feed(piece)) == 1_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


def test_a_file_of_ours_is_rotated_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xla_lint.runtime.logs.ROTATE", 3000)
    path = tmp_path / "debug.log"
    log = DebugLog(path, owned=True)
    seen = 0
    for turn in range(20):
        late = path.open("a") if path.exists() else None
        seen += len(list(log.records()))
        with late or path.open("a") as file:  # opened before the rotation, written after it
            file.write(RUN * (turn % 4))
    seen += len(list(log.records())) + len(list(log.records()))
    assert seen == sum(turn % 4 for turn in range(20))
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 10_000


def test_a_foreign_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.log"
    path.write_text(RUN)
    log = DebugLog(path, owned=False, offset=path.stat().st_size)
    with path.open("a") as file:
        file.write(RUN)
    assert len(list(log.records())) == 1
    assert path.read_text() == RUN * 2


def test_the_users_line() -> None:
    library = Frame("/home/me/.venv/lib/python3.12/site-packages/accelerate/accelerator.py", 3, "backward")
    torch = Frame("/home/me/.venv/lib/python3.12/site-packages/torch/_tensor.py", 3, "item")
    mine = Frame("/home/me/train.py", 9, "step")
    assert own([torch, library, mine]) == mine
    assert own([torch, library]) == library
    assert place_of([torch, library, mine]) == Place(mine, library)
    assert place_of([torch, mine]) == Place(mine)
    assert own([torch]) == torch
    assert own([]) is None


def test_the_line_of_an_installed_program() -> None:
    site = "/home/me/.venv/lib/python3.12/site-packages"
    torch, helper = (
        Frame(f"{site}/torch_xla/torch_xla.py", 87, "sync"),
        Frame(f"{site}/accelerate/accelerator.py", 3, "b"),
    )
    mine, main = Frame(f"{site}/program/train.py", 9, "step"), Frame(f"{site}/program/__main__.py", 2, "<module>")
    start = Frame(runpy.__file__, 88, "_run_code")
    assert place_of([torch, helper, mine, main, start]) == Place(mine, helper)


def test_the_line_of_a_cell() -> None:
    cell = Frame("<ipython-input-3-0123456789ab>", 2, "<module>")
    shell = Frame("/home/me/.venv/lib/python3.12/site-packages/IPython/core/interactiveshell.py", 3, "run_code")
    assert own([Frame("<frozen importlib._bootstrap>", 1, "f"), cell, shell]) == cell


def test_a_file_is_named_by_its_whole_path() -> None:
    assert Frame("./sub/../train.py", 1, "f").below("/home/me").file == "/home/me/train.py"
    assert Frame("/elsewhere/train.py", 1, "f").below("/home/me").file == "/elsewhere/train.py"
    assert Frame("<stdin>", 1, "f").below("/home/me").file == "<stdin>"


def test_dumps_are_taken_in_order_and_deleted(tmp_path: Path) -> None:
    for number, rows in ((2, 8), (10, 9)):
        (tmp_path / f"module_00{number:02}.SyncTensorsGraph.9.before_optimizations.txt").write_text(hlo(rows))
        (tmp_path / f"module_00{number:02}.SyncTensorsGraph.9.debug_options").touch()
    dumps = Dumps(tmp_path)
    assert dumps.take(5, 5) is None
    first, second = dumps.take(1, 2), dumps.take(-1, -1)
    assert first is not None
    assert second is not None
    assert [each.shape for each in first.inputs + second.inputs] == ["f32[8,4]", "f32[9,4]"]
    assert list(tmp_path.iterdir()) == []


def test_processes_that_loaded_torch_xla_unseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xla_lint.runtime.strays.PROCESSES", tmp_path / "proc")
    loaded = "7f00-7f01 r-xp 0 08:01 1 /env/site-packages/_XLAC.cpython-311-x86_64-linux-gnu.so\n"
    processes = {
        10: (1, "python launcher.py", ""),
        11: (10, "python -I train.py", loaded),
        12: (10, "python train.py", loaded),
        13: (12, "python train.py", loaded),
        14: (13, "bash (a script)", ""),
        15: (14, "python -E eval.py", loaded),
        20: (1, "python elsewhere.py", loaded),
    }
    for pid, (parent, command, maps) in processes.items():
        folder = tmp_path / "proc" / str(pid)
        folder.mkdir(parents=True)
        (folder / "stat").write_text(f"{pid} (py (x) 1) S {parent} 1 1")
        (folder / "cmdline").write_text("\0".join([*command.split(), ""]))
        (folder / "maps").write_text(maps)
    (tmp_path / "run" / "12").mkdir(parents=True)
    strays = Strays(10, tmp_path / "run")
    strays.look()
    assert strays.found == {11: "python -I train.py", 15: "python -E eval.py"}


def test_the_text_of_a_file_in_a_zip_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("pkg/train.py", "x = 1\n  y = 2\n")
    assert line_of(str(tmp_path / "app.pyz" / "pkg" / "train.py"), 2) == "y = 2"
    assert line_of(str(tmp_path / "app.pyz" / "pkg" / "other.py"), 1) == ""


def test_what_torch_xla_refuses_is_no_execution() -> None:
    (record,) = RecordParser().feed(block("Unexpected Execution", "most likely user code", STEP))
    assert record.kind == REFUSED
    assert "step (/home/me/train.py:9)" in record.text
