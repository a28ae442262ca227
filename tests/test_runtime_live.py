"""What is told of a run while it goes on: from recorded data."""

from __future__ import annotations

from collections import Counter

from tests.recordings import state
from xla_lint.runtime.collect import Compile, Line, Process, Recording
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.differences import SHAPE, Difference
from xla_lint.runtime.exchange import CompiledAt, ReadsAt
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.live import Live
from xla_lint.runtime.places import Frame, Place
from xla_lint.runtime.sites import Comparison
from xla_lint.runtime.summary import summarise

SYNC = "user torch_xla.sync"
LINE = Frame("<stdin>", 7, "<module>")


def compiled(number: int, rows: int | None = None) -> Compile:
    """A graph; with `rows`, one that was compiled before for another number of them."""
    made = Compile(number, (LINE,), SYNC, f"{number:x}")
    if rows is not None:
        words = f"input 0 is f32[{rows}], and was f32[8]"
        change = Difference(SHAPE, "input 0", words, "f32[8]", f"f32[{rows}]")
        made.against = Comparison(1, 9, (change,), other=False, same=False)
    return made


def process(*compiles: Compile, warm: int | None = 1, counted: int | None = None) -> Process:
    number = len(compiles) if counted is None else counted
    return Process(
        state(
            counts=Counts(number),
            warm=Counts(warm) if warm is not None else None,
            compiled=[CompiledAt(each.number, 10 * each.number, 1.0, 0.5, 0) for each in compiles],
            ended=False,
        ),
        compiles=list(compiles),
    )


def test_the_words_are_those_of_the_report() -> None:
    new = Live().new([process(compiled(1), compiled(2, rows=5))])
    assert list(new) == ["step 21: recompiled once at <stdin>:7 because input 0 is f32[5], and was f32[8]"]


def test_nothing_is_told_of_the_warm_up() -> None:
    assert list(Live().new([process(compiled(1), compiled(2, rows=5), warm=2)])) == []
    assert list(Live().new([process(compiled(1), compiled(2, rows=5), warm=None)])) == []


def test_each_is_told_once() -> None:
    live, one = Live(), process(compiled(1), compiled(2, rows=5))
    assert len(list(live.new([one]))) == 1
    assert list(live.new([one])) == []


def test_a_compile_waits_until_the_process_has_told_when_it_was() -> None:
    live, compiles = Live(), (compiled(1), compiled(2, rows=5))
    assert list(live.new([process(*compiles, counted=1)])) == []
    assert len(list(live.new([process(*compiles)]))) == 1


def test_of_many_the_first_and_each_doubling_are_told() -> None:
    live, compiles, told = Live(), [compiled(1)], []
    for number in range(2, 12):
        compiles.append(compiled(number, rows=number))
        told += live.new([process(*compiles)])
    assert [each.split(" at ")[0] for each in told] == [
        "step 21: recompiled once",
        "step 31: recompiled 2 times",
        "step 51: recompiled 4 times",
        "step 91: recompiled 8 times",
    ]


def test_a_new_graph_is_no_recompile() -> None:
    (told,) = Live().new([process(compiled(1), compiled(2))])
    assert told == "step 21: compiled at <stdin>:7, where no graph like it was compiled before: barrier"


def test_of_several_processes_each_is_named() -> None:
    first, second = process(compiled(1), compiled(2)), process(compiled(1), compiled(2, rows=5))
    assert second.state is not None
    second.state.pid = 42
    assert [each.partition(",")[0] for each in Live().new([first, second])] == ["process 41", "process 42"]


def test_a_summary_on_the_way_takes_nothing_from_the_last_one() -> None:
    going = process(compiled(1))
    assert going.state is not None
    going.state.reads = [ReadsAt(Place(LINE), "value", late=4)]
    going.lines[Place(LINE)] = Line(Place(LINE), 1, 1, causes=Counter({SYNC: 1}))
    for _ in range(2):
        so_far = going.copy()
        so_far.settle()
        recording = Recording([so_far], ended=False)
        summary = summarise(recording, Linted(), command="", ended="goes on", warmup=3)
        assert [row.reads for row in summary.rows] == [4]
        assert (summary.notes, summary.problems) == ([], [])
