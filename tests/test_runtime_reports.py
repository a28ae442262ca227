"""Reports from recorded data, and what the runtime half does without torch."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from xla_lint.cli.main import main
from xla_lint.runtime import report, table
from xla_lint.runtime.collect import Line, Process, Recompile, Recording
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.exchange import BarriersAt, ReadsAt, State, read, write
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.gate import Limits
from xla_lint.runtime.places import Frame
from xla_lint.runtime.recompiles import Change
from xla_lint.runtime.summary import Summary, summarise
from xla_lint.runtime.timeline import ROOM, Timeline

SYNC = "user torch_xla.sync"
READ = "most likely user code trying to access tensor value before torch_xla.sync"
SOURCE = """\
import torch, torch_xla
x = torch.ones(4, device=torch_xla.device())
for step in range(9):
    y = (x * 2).sum()
    print(y.item(), '<b>|</b>')
    torch_xla.sync()
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(SOURCE)
    return str(path)


@pytest.fixture
def process(script: str) -> Process:
    item, sync = Frame(script, 5, "<module>"), Frame(script, 6, "<module>")
    timeline = Timeline()
    for step in range(9):
        timeline.add(step / 10, int(step < 1), 2, 1)
    state = State(
        pid=41,
        arguments=["train.py"],
        at=1.0,
        ended=True,
        counts=Counts(4, 20, 9, 1.5, 0.5, {"aten::median": 2}),
        warm=Counts(2, 6, 3),
        steps=9,
        warm_steps=3,
        unattributed_reads=0,
        debug_file="",
        debug_offset=0,
        level="2",
        reads=[ReadsAt(item, "value", pending=9, seconds=0.4)],
        barriers=[BarriersAt(sync, 9, 1.0)],
        timeline=timeline.entries,
    )
    process = Process(state)
    process.lines[item] = Line(item, 1, 9, causes=Counter({READ: 10}))
    process.lines[sync] = Line(sync, 2, 9, causes=Counter({SYNC: 11}))
    change = Change("input 0 is f32[17,4], and was f32[32,4]", script, 4, ("xla-ragged-batch",), rows=True)
    process.recompiles.append(Recompile(sync, "barrier", change))
    process.settle()
    return process


@pytest.fixture
def summary(process: Process) -> Summary:
    return summarise(Recording([process]), Linted(), command="python train.py", ended="ended well", warmup=3)


def test_rows_add_up_to_the_totals(summary: Summary) -> None:
    assert [(row.line, row.compiles, row.executions, row.reads) for row in summary.rows] == [
        (6, 2, 9, 0),
        (5, 1, 9, 9),
        (0, 1, 2, 0),
    ]


def test_the_linter_is_asked(summary: Summary) -> None:
    sync, item, _ = summary.rows
    assert (item.rule, item.seen) == ("xla-value-read", "found by the linter too")
    assert (sync.rule, sync.seen) == ("xla-ragged-batch", "seen only at run time")


def test_limits(summary: Summary) -> None:
    assert list(Limits(2, 3.0).broken(summary)) == []
    assert list(Limits(1, 2.0, fallbacks=False).broken(summary)) == [
        "process 41 compiled 2 graphs after 3 steps, 1 allowed",
        "process 41 executed 2.33 graphs a step after 3 steps, 2 allowed",
        "operations ran on the CPU: aten::median",
    ]


def test_a_limit_does_not_hold_of_what_was_not_recorded() -> None:
    summary = summarise(Recording(unseen={7: "python -I"}), Linted(), command="", ended="ended well", warmup=3)
    assert summary.problems == ["process 7 loaded torch_xla and is not recorded: python -I"]
    assert list(Limits(0).broken(summary)) == ["nothing was recorded, so that no limit can be said to hold"]
    assert list(Limits().broken(summary)) == []


class Page(HTMLParser):
    """What stands in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.links += [value or "" for name, value in attrs if name in {"src", "href"}]


def test_the_page_needs_nothing_else(summary: Summary) -> None:
    text = report.html(summary, ["too much"])
    page = Page()
    page.feed(text)
    assert page.links == []
    assert "url(" not in text
    assert page.tags["script"] == 0
    assert page.tags["rect"] == 1 + 9 + 9
    assert page.tags["tr"] == 1 + 3
    assert "prefers-color-scheme: dark" in text
    assert "Limit broken: too much" in text


def test_source_is_escaped(summary: Summary) -> None:
    assert "&lt;b&gt;" in report.html(summary, [])
    assert "<b>" not in report.html(summary, [])


def test_markdown(summary: Summary, script: str) -> None:
    lines = report.markdown(summary, []).splitlines()
    assert lines[0] == "## xla-lint run"
    assert f"| `{script}:6` | 2 | 9 | 0 | 1.00 | barrier | xla-ragged-batch, seen only at run time |" in lines
    assert any(line.startswith("- recompiled once at ") for line in lines)


def test_the_sentence_on_a_recompile(summary: Summary, script: str) -> None:
    assert list(table.reasons(summary)) == [
        (
            f"recompiled once at {script}:6 because input 0 is f32[17,4], and was f32[32,4] (built at {script}:4); "
            "see xla-ragged-batch, seen only at run time"
        )
    ]


def test_a_state_survives_its_file(process: Process, tmp_path: Path) -> None:
    assert process.state is not None
    write(process.state, tmp_path / "41")
    assert read(tmp_path / "41") == process.state
    assert read(tmp_path) is None


def test_a_killed_process_is_said_to_be_partial(process: Process) -> None:
    assert process.state is not None
    process.state.ended = False
    summary = summarise(Recording([process]), Linted(), command="", ended="was ended by SIGKILL", warmup=3)
    assert "process 41 ended without warning" in summary.notes[0]


def test_a_long_timeline_is_bounded() -> None:
    timeline = Timeline()
    for step in range(100_000):
        timeline.add(float(step), 0, 2, 1)
    assert len(timeline.entries) < ROOM
    assert sum(entry.number for entry in timeline.entries) == 100_000
    assert sum(entry.executions for entry in timeline.entries) == 200_000


def without_torch(script: str) -> subprocess.CompletedProcess[str]:
    blocked = "import sys\nsys.modules['torch'] = sys.modules['torch_xla'] = None\n"
    return subprocess.run([sys.executable, "-c", blocked + script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", ["CompileCounter()", "assert_max_compiles(1)", "watch()"])
def test_without_torch_xla_the_error_names_the_extra(what: str) -> None:
    done = without_torch(f"from xla_lint.runtime import *\nwith {what}: pass")
    last = done.stderr.strip().splitlines()[-1]
    assert "pip install 'xla-lint[runtime]'" in last


def test_nothing_to_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--warmup", "1"]) == 2
    assert "name a script" in capsys.readouterr().err


def test_a_program_without_torch_xla_runs_as_ever(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("import sys\nprint(sys.argv[1:])\nsys.exit(4)\n")
    root = str(Path(__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-m", "xla_lint", "run", str(tmp_path / "plain.py"), "-m", "--json", "x"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (4, "['-m', '--json', 'x']\n")
    assert "no process executed anything on an XLA device" in done.stderr
