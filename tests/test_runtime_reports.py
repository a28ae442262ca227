"""Reports from recorded data, and what the runtime half does without torch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.recordings import state
from xla_lint.cli.main import main
from xla_lint.runtime import charts, report, table
from xla_lint.runtime.causes import LOADER
from xla_lint.runtime.collect import Collector, Compile, Line, Process, Recording
from xla_lint.runtime.costs import savings, spent
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.differences import OPERATIONS, SHAPE, Difference
from xla_lint.runtime.exchange import NO_RECORDS, BarriersAt, CompiledAt, ReadsAt, Source, Steps, read, write
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.gate import Limits, broken
from xla_lint.runtime.given import Given
from xla_lint.runtime.listing import listings
from xla_lint.runtime.places import NOWHERE, Frame, Place, place_of
from xla_lint.runtime.program import command_of
from xla_lint.runtime.records import Memory
from xla_lint.runtime.sites import Comparison
from xla_lint.runtime.sources import tensor_at
from xla_lint.runtime.spans import GOVERNED, SAME_LINE, SAME_LOOP, UNTIED, Span, Stretch
from xla_lint.runtime.steps import Turns
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
    left = state(
        cwd=str(Path(script).parent),
        counts=Counts(4, 20, 9, 1.5, 0.5, {"aten::median": 2}),
        warm=Counts(2, 6, 3),
        last=Counts(0, 20, 9),
        step_place=Place(sync),
        reads=[ReadsAt(Place(item), "value", pending=9, seconds=0.4)],
        barriers_at=[BarriersAt(Place(sync), 9, 1.0)],
        compiled=[CompiledAt(1, 0, 0.1, 0.5, 0), CompiledAt(4, 5, 0.6, 1.0, 0)],
        timeline=timeline.entries,
        cells={"<ipython-input-1-00>": Source("In[1]", "x = 1\n")},
    )
    process = Process(left)
    process.lines[Place(item)] = Line(Place(item), 1, 9, causes=Counter({READ: 10}))
    process.lines[Place(sync)] = Line(Place(sync), 2, 9, causes=Counter({SYNC: 11}), barriers=9)
    words = "input 0 is f32[17,4], and was f32[32,4]"
    change = Difference(SHAPE, "input 0", words, "f32[32,4]", "f32[17,4]", (Frame(script, 4, "<module>"),))
    against = Comparison(1, 40, (change,), other=False, same=False)
    process.compiles += [
        Compile(1, (sync,), SYNC, "aa", 1, 1, 40),
        Compile(4, (sync,), SYNC, "bb", 1, 1, 41, barriers=6, against=against),
    ]
    process.compiles[1].given = ((("f32[17,4]", Frame(script, 2, "<module>")), 1), (("f32[4]", None), 3))
    process.compiles[1].memory = Memory(3 << 20, 2 << 20, 1 << 20, 512, 0)
    process.barriers = 9
    process.settle()
    return process


def summarised(process: Process, ended: str = "ended well") -> Summary:
    return summarise(Recording([process]), Linted(), command="python train.py", ended=ended, warmup=3)


@pytest.fixture
def summary(process: Process) -> Summary:
    return summarised(process)


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
    assert broken(Limits(2, 3.0, 1.0).checks(summary)) == []
    assert broken(Limits(1, 2.0, 0.5, fallbacks=False).checks(summary)) == [
        "process 41 compiled 2 graphs after 3 steps, 1 allowed: train.py:6 (1)",
        "process 41 executed 2.33 graphs a step after 3 steps, 2 allowed: train.py:6 (9), train.py:5 (9)",
        "process 41 read 1 times a step after 3 steps, 0.5 allowed: train.py:5 (9)",
        "operations ran on the CPU: aten::median",
    ]


def test_a_run_that_never_became_warm(process: Process) -> None:
    assert process.state is not None
    process.state.steps, process.state.warm, process.state.last = 2, None, None
    summary = summarised(process)
    assert broken(Limits(0).checks(summary)) == ["the program never became warm, with 2 steps; see --warmup"]
    assert broken(Limits(fallbacks=False).checks(summary)) == ["operations ran on the CPU: aten::median"]


def test_without_a_step_everything_counts(process: Process) -> None:
    assert process.state is not None
    process.state.steps, process.state.step, process.state.warm, process.state.last = 0, "", None, None
    assert broken(Limits(3, 19.0).checks(summarised(process))) == [
        "process 41 compiled 4 graphs, 3 allowed: train.py:6 (2)",
        "process 41 executed 20 graphs and no step was seen, 19 allowed: train.py:6 (9), train.py:5 (9)",
    ]


def test_a_limit_does_not_hold_of_what_was_not_recorded() -> None:
    summary = summarise(Recording(unseen={7: "python -I"}), Linted(), command="", ended="ended well", warmup=3)
    assert summary.problems == ["process 7 loaded torch_xla and is not recorded: python -I"]
    assert broken(Limits(0).checks(summary)) == ["nothing was recorded, so that no limit can be said to hold"]
    assert broken(Limits().checks(summary)) == []


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
    assert page.tags["rect"] == 1 + (9 + 2) + 9 + 9  # compiling; durations and two longest; executions; reads
    assert page.tags["tr"] == 1 + 3 + 1 + 2  # lines and compiles
    assert "prefers-color-scheme: dark" in text
    assert "Limit broken: too much" in text


def test_source_is_escaped(summary: Summary) -> None:
    assert "&lt;b&gt;" in report.html(summary, [])
    assert "<b>" not in report.html(summary, [])


def test_what_to_change_first(summary: Summary) -> None:
    read, again = savings(summary)
    assert (again.rule, again.reasons[0].line, again.seconds) == ("xla-ragged-batch", 6, pytest.approx(1 / 3))
    assert (read.rule, read.row and read.row.line, read.seconds) == ("xla-value-read", 5, 0.4)


def test_a_recompile_is_no_saving_of_another_line_of_the_framework(process: Process) -> None:
    own, sync = process.compiles[0].place.own, process.compiles[1].stack
    lib = Frame("/env/lib/python3.12/site-packages/lib/trainer.py", 7, "log")
    other = Line(Place(own, lib), 0, 9, late_reads=9, seconds=0.25, manners=Counter({"value": 9}))
    process.lines[other.place] = other
    (again,) = [each for each in savings(summarised(process)) if each.reasons]
    (row,) = [each for each in savings(summarised(process)) if each.row and each.row.inside_line == lib.line]
    assert sync[0] == own
    assert (row.rule, row.seconds, again.seconds) == ("xla-late-read", 0.25, pytest.approx(1 / 3))


@pytest.mark.parametrize(("cause", "rules"), [(SYNC, {7, 8}), (LOADER, {8})])
def test_the_barrier_of_a_device_loader_splits_no_step(script: str, cause: str, rules: set[int]) -> None:
    process = Process(state(steps=9))
    for number, spelled in ((7, cause), (8, SYNC)):
        place = Place(Frame(script, number, "<module>"))
        process.lines[place] = Line(place, 1, 9, causes=Counter({spelled: 10}), barriers=9)
    assert {row.line for row in summarised(process).rows if row.rule == "xla-split-step"} == rules


def test_one_step_with_two_barriers_tells_nothing_of_the_others(script: str) -> None:
    process = Process(state(steps=1))
    for number in (7, 8):
        place = Place(Frame(script, number, "<module>"))
        process.lines[place] = Line(place, 1, 1, causes=Counter({SYNC: 2}), barriers=1)
    assert [row.rule for row in summarised(process).rows] == ["", ""]


def test_a_function_that_is_deprecated_is_called_by_no_framework() -> None:
    packages = "/env/lib/python3.12/site-packages"
    stack = [
        Frame(f"{packages}/torch_xla/torch_xla.py", 87, "sync"),
        Frame(f"{packages}/typing_extensions.py", 3140, "wrapper"),
    ]
    trainer, mine = Frame(f"{packages}/transformers/trainer.py", 9, "log"), Frame("/home/me/train.py", 3, "main")
    assert place_of([*stack, trainer, mine]) == Place(mine, trainer)
    assert place_of([*stack, mine]) == Place(mine)


def test_a_compile_names_the_line_of_the_framework(process: Process) -> None:
    lib = Frame("/env/lib/python3.12/site-packages/lib/trainer.py", 7, "log")
    process.compiles[0].stack = (lib, *process.compiles[0].stack)
    text = report.html(summarised(process), []).replace("<wbr>", "")
    assert text.count("train.py:6 &gt; lib/trainer.py:7</code>") == 1


def test_a_small_share_is_not_told_as_nothing(process: Process) -> None:
    assert process.state is not None
    process.state.at = 10_000.0
    assert "under 1 % of the run" in report.html(summarised(process), [])


def test_seconds_by_line_are_split(summary: Summary) -> None:
    sync, item, _ = spent(summary)
    assert (sync.compiling, sync.total) == (pytest.approx(0.5 + 1 / 3), pytest.approx(1.0))
    assert (item.executing, item.waiting) == (0.4, 0.0)


def test_a_recompile_that_was_not_timed_has_no_saving(process: Process) -> None:
    assert process.state is not None
    process.state.compiled.pop()
    assert [each.seconds for each in savings(summarised(process))] == [0.4, None]


def test_a_long_compilation_looks_long(process: Process) -> None:
    assert process.state is not None
    process.state.at, process.state.compiled[1] = 100.0, CompiledAt(4, 5, 80.0, 60.0, 0)
    first, second = charts.progress(summarised(process).parts[0]).bars
    assert (first.width, second.x, second.width) == (charts.NARROWEST, 200.0, 600.0)
    assert second.title == "graphs 2 to 4: 60 s of compiling, from 20 s to 80 s"


def test_a_long_run_is_drawn_in_few_columns(process: Process) -> None:
    assert process.state is not None
    timeline = Timeline()
    for step in range(100_000):
        timeline.add((step + 1) / 100, 0, 1, 0)
    process.state.timeline = timeline.entries
    part = summarised(process).parts[0]
    took, executions, reads = charts.steps(part)
    assert len(took.bars) <= 2 * charts.COLUMNS
    assert len(executions.bars) <= charts.COLUMNS
    assert reads.bars == []
    assert took.across[-1].text == "step 100,000"
    assert len(charts.progress(part).curve.split()) < 2 * charts.POINTS
    assert "10 ms a step, up to 1 s" in took.bars[0].title  # what was compiled in one of them took that long


def test_a_program_that_ends_in_its_first_step_is_drawn(process: Process) -> None:
    assert process.state is not None
    process.state.timeline = [Steps(0, 0.1, 1, 1, 0)]
    assert "step 1" in report.html(summarised(process), [])


def test_the_program_stands_beside_its_cost(summary: Summary, script: str) -> None:
    (listing,) = listings(summary)
    assert (listing.file, [line.number for line in listing.lines]) == (script, [2, 3, 4, 5, 6])
    made, item, sync = listing.lines[2:]
    assert made.made == ["input 0 is f32[17,4], and was f32[32,4]"]
    assert (item.spent.total, sync.spent.total, sync.compiles) == (0.4, pytest.approx(1.0), 2)


def test_markdown(summary: Summary, script: str) -> None:
    lines = report.markdown(summary, []).splitlines()
    assert lines[0] == "## xla-lint run"
    assert f"| `{script}:6` | 2 | 9 | 0 | 1.00 | barrier | xla-ragged-batch, seen only at run time |" in lines
    assert any(line.startswith("- recompiled once at ") for line in lines)


def test_the_sentence_on_a_recompile(summary: Summary, script: str) -> None:
    assert list(table.reasons(summary)) == [
        (
            f"recompiled once at {script}:6 because input 0 is f32[17,4], and was f32[32,4] (at {script}:4); "
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
    process.state.counts = Counts(1, 2, 0)
    summary = summarised(process, "was ended by SIGKILL")
    assert "process 41 ended without warning" in summary.notes[0]
    assert (summary.counts.compiles, summary.counts.executions, summary.counts.reads) == (4, 20, 9)


def test_a_report_survives_its_file(summary: Summary) -> None:
    assert Summary.from_json(json.loads(json.dumps(summary.as_json()))) == summary


def test_the_list_of_compiles(summary: Summary, script: str) -> None:
    first, second = summary.parts[0].compiles
    assert (first.number, first.step, first.seconds, first.together, first.against) == (1, 0, 0.5, 1, 0)
    assert (second.number, second.step, second.seconds, second.together, second.against) == (4, 5, 1.0, 3, 1)
    (told,) = second.differences
    assert (told.before, told.after, told.file, told.line) == ("f32[32,4]", "f32[17,4]", script, 4)


def test_a_compile_tells_its_inputs_and_its_memory(summary: Summary, script: str) -> None:
    second = summary.parts[0].compiles[1]
    assert second.given == (
        Given(1, "f32[17,4]", script, 2, "x = torch.ones(4, device=torch_xla.device())"),
        Given(3, "f32[4]", "", 0, ""),
    )
    page = report.html(summary, [])
    assert "<li>f32[17,4]: at " in page
    assert "<li>3 of f32[4]: no line known</li>" in page
    assert "inputs 3 MB, results 2 MB, between under 1 kB, 1 MB of the results in the place of inputs" in page


def test_one_more_compile_alone_names_no_rule(process: Process) -> None:
    against = process.compiles[1].against
    assert against is not None
    change = Difference(OPERATIONS, "has aten::tanh", "it has aten::tanh, which the closest one before lacks")
    process.compiles[1].against = replace(against, differences=(change,), other=True)
    (reason,) = summarised(process).reasons
    assert (reason.explained, reason.rule) == (True, "")


def test_parts_of_one_step_are_no_recompile(process: Process) -> None:
    against = process.compiles[1].against
    assert against is not None
    process.compiles[1].against = replace(against, other=True)
    process.compiles[1].beside = True
    assert summarised(process).reasons == []


def test_what_is_not_understood_is_said_to_be_compared(process: Process) -> None:
    against = process.compiles[1].against
    assert against is not None
    process.compiles[1].against = replace(against, differences=())
    (sentence,) = [each for each in table.reasons(summarised(process)) if "recompiled" in each]
    assert "not explained: its 41 operations were compared with those of the closest graph" in sentence


def test_what_was_not_dumped_is_said_not_to_be_compared(process: Process) -> None:
    process.compiles[1].against, process.compiles[1].missing = None, True
    (sentence,) = [each for each in table.reasons(summarised(process)) if "recompiled" in each]
    assert sentence.endswith("train.py:6, not explained: no graph was dumped that could be compared")


def test_a_full_disk_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collector = Collector(tmp_path)
    monkeypatch.setattr("xla_lint.runtime.collect.ROOM", 1 << 62)
    collector.poll()
    monkeypatch.undo()
    assert collector.recording(ended=True).problems == [
        f"the disk of {tmp_path.parent} was full, so that records are missing"
    ]


RECORD = """
Execution Analysis: ================================================================================
Execution Analysis: Execution Cause
Execution Analysis:   user torch_xla.sync
Execution Analysis: Graph Info:
Execution Analysis:   Graph Hash: aa
Execution Analysis:   Number of Graph Inputs: 1
Execution Analysis:   Number of Graph Outputs: 1
Execution Analysis: Python Frame Triggered Execution:
Execution Analysis:   main (/home/me/train.py:9)
Execution Analysis: --------------------------------------------------------------------------------
Execution Analysis: ================================================================================
"""


def test_the_users_own_debug_file_is_that_of_the_process_that_writes_to_it(tmp_path: Path) -> None:
    run, log = tmp_path / "run", tmp_path / "mine.log"
    run.mkdir()
    log.write_text(RECORD)
    launcher, second, first = 1, 2, 3
    for pid in (launcher, second, first):
        notes = [NO_RECORDS] if pid == second else []
        write(state(pid=pid, used=pid != launcher, notes=notes, debug_file=str(log)), run / str(pid))
    recording = Collector(run).recording(ended=True)
    executed = {each.state.pid: len(each.lines) for each in recording.processes if each.state}
    assert executed == {second: 0, first: 1}


def test_records_of_a_process_that_was_killed_before_it_said_so(tmp_path: Path) -> None:
    run, log = tmp_path / "run", tmp_path / "mine.log"
    run.mkdir()
    log.write_text(RECORD)
    write(state(used=False, ended=False, debug_file=str(log)), run / "41")
    collector = Collector(run)
    assert collector.recording(ended=False).processes == []
    assert len(collector.recording(ended=True).processes) == 1


@pytest.mark.parametrize("beside", [False, True], ids=["no barrier at all", "barriers in a later loop alone"])
def test_graphs_that_grow(process: Process, beside: bool) -> None:
    against = process.compiles[1].against
    assert against is not None
    other = replace(against, other=beside)
    sync = process.compiles[0].stack
    process.compiles[:] = [
        Compile(n, sync, READ, f"{n}", operations=10 * n, against=other if n > 1 else None, grows=n > 1, beside=beside)
        for n in (1, 2, 3, 4)
    ]
    process.ran.update({f"{n}": 1 for n in (1, 2, 3, 4)})
    (reason,) = summarised(process).reasons
    assert reason.words == "its graphs grow, since no barrier cuts them: 40, 20 … 40 operations"
    assert (reason.number, reason.rule) == (3, "xla-missing-sync")


def test_several_optimizer_steps_in_a_graph(process: Process) -> None:
    assert process.state is not None
    process.state.compiled[0].optimizer_steps = 14
    (each,) = summarised(process).uncut
    assert (each.line, each.optimizer_steps, each.operations, each.rule) == (6, 14, 40, "xla-missing-sync")


@pytest.mark.parametrize(
    ("passed", "number"),
    [("AAAA", 4), ("ABCABCABC", 3), ("AAAEAAA", 6), ("AAAEEEAAA", 7), ("", 0)],
)
def test_steps_are_turns_of_the_programs_own_loop(passed: str, number: int) -> None:
    turns = Turns()
    for place in passed:
        turns.passes(place, NOWHERE)
    assert turns.number == number


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


def spans(tmp_path: Path, source: str) -> dict[str, list[Span]]:
    file = tmp_path / "program.py"
    file.write_text(source)
    found: dict[str, list[Span]] = {}
    for each in Linted().spans(str(file)):
        found.setdefault(each.symbol, []).append(each)
    return found


TIES = """\
import random, torch, torch_xla
device = torch_xla.device()
model = torch.nn.Linear(6, 6).to(device)

def never(table, n):
    for i in range(n):
        table = table.to(device).roll(i, 0)
        torch_xla.sync()

def train():
    for step in range(9):
        x = torch.randn(4, 6).to(device)
        if random.random() < 0.5:
            x = x * 2
        model(x.roll(step, 0)).mean().backward()
        torch_xla.sync()

train()
"""


def test_a_finding_belongs_to_the_stacks_that_run_through_its_loop(tmp_path: Path) -> None:
    found = spans(tmp_path, TIES)
    file = str(tmp_path / "program.py")

    def stack(line: int) -> tuple[Frame, ...]:
        return (Frame(file, line, "train"), Frame(file, 18, "<module>"))

    other, mine = sorted(found["xla-changing-constant"], key=lambda each: each.place.first)
    assert (other.place.first, mine.place.first) == (7, 15)
    assert [each.tie(stack(16)) for each in (other, mine)] == [UNTIED, SAME_LOOP]
    assert mine.tie(stack(15)) == SAME_LINE
    (branch,) = found["xla-host-random"]
    assert branch.tie(stack(14)) == GOVERNED


def test_a_file_is_the_same_by_each_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "link.py").symlink_to(tmp_path / "train.py")
    stretch = Stretch(str(tmp_path / "train.py"), 3, 4)
    assert stretch.holds(str(tmp_path / "link.py"), 3)
    assert not stretch.holds(str(tmp_path / "other.py"), 3)
    assert not stretch.holds(str(tmp_path / "link.py"), 5)


@pytest.mark.parametrize(
    ("line", "tensor"),
    [
        ("x = x.to(device)", "x"),
        ("ids = prompt(8 + position).to(device)", "ids"),
        ("loss = model(rows.to(device)).mean()", "rows"),
        ("batch['x'].to(device)", "batch['x']"),
        ("out = f(torch.randn(4).to(device))", ""),
        ("a, b = a.to(device), b.to(device)", ""),
        ("for x in loader:", ""),
    ],
)
def test_the_name_of_a_tensor_that_is_moved(line: str, tensor: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"{line}\n")
    assert tensor_at(str(tmp_path / "train.py"), 1) == tensor


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["train.py", "-x"], [sys.executable, "train.py", "-x"]),
        (["-m", "train"], [sys.executable, "-m", "train"]),
        (["nowhere.py"], [sys.executable, "nowhere.py"]),
        (["sh", "train.sh"], [shutil.which("sh"), "train.sh"]),
    ],
)
def test_what_is_run(arguments: list[str], command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    assert command_of(arguments) == command


def test_a_script_that_the_system_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, head in (("train.sh", "#!/bin/sh"), ("train", "#!/usr/bin/env python3")):
        (tmp_path / name).write_text(f"{head}\n")
        (tmp_path / name).chmod(0o755)
    assert command_of(["./train.sh", "1"]) == [str(tmp_path / "train.sh"), "1"]
    assert command_of(["./train"]) == [sys.executable, "./train"]


def test_a_report_without_a_place_is_refused_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "never.py"
    script.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert main(["run", "--json", str(tmp_path / "nowhere" / "x.json"), str(script)]) == 2
    assert "cannot be written: no such directory" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


def test_the_programs_status_without_a_standard_error(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("import sys\nsys.exit(7)\n")
    root = str(Path(__file__).parent.parent)
    for redirection in ("2>&-", "2>/dev/full"):
        command = f"{sys.executable} -m xla_lint run {tmp_path / 'plain.py'} {redirection}"
        assert subprocess.run(command, shell=True, cwd=root, check=False).returncode == 7


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    script = os.fsencode(tmp_path) + b"/caf\xe9.py"
    Path(os.fsdecode(script)).write_text("print('ran')\n")
    command = [sys.executable, "-m", "xla_lint", "run", "--html", str(tmp_path / "x.html"), script]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"ran\n"), done.stderr
