"""What differs between graphs, which earlier one is compared, and what holds several steps: without torch."""

from __future__ import annotations

import re

import pytest

from xla_lint.runtime.differences import INPUTS, LENGTH, OPERATIONS, RESULTS, SHAPE, TYPE, VALUE, differences
from xla_lint.runtime.graph_stacks import stacks_of
from xla_lint.runtime.graphs import Graph, Operation, comparable, parse
from xla_lint.runtime.places import Frame
from xla_lint.runtime.protobuf import WireError, fields
from xla_lint.runtime.sites import Site
from xla_lint.runtime.sizes import Sizes
from xla_lint.runtime.turns import turns_of

TRAIN = "/home/me/train.py"
TORCH = "/env/lib/python3.12/site-packages/torch/nn/modules/module.py"


def hlo(rows: int, constant: int = 2, *, extra: str = "", kind: str = "f32", columns: int = 4) -> str:
    shape = f"{kind}[{rows},{columns}]"
    return f"""HloModule SyncTensorsGraph.9, entry_computation_layout={{({shape}{{1,0}})->({shape}{{1,0}})}}

%Add.1 (x.2: f32[], y.3: f32[]) -> f32[] {{
  ROOT %add.4 = f32[] add(%x.2, %y.3)
}}

ENTRY %SyncTensorsGraph.9 (p0.1: {shape}) -> ({shape}, /*index=1*/{shape}) {{
  %constant.2 = f32[] constant({constant}), metadata={{op_type="aten__pow" source_file="{TRAIN}" source_line=7}}
  %broadcast.3 = {shape}{{1,0}} broadcast(%constant.2), dimensions={{}}
  %p0.1 = {shape}{{1,0}} parameter(0), metadata={{op_type="xla__device_data" op_name="xla__device_data"}}
{extra}  %power.4 = {shape}{{1,0}} power(%p0.1, %broadcast.3), metadata={{op_type="aten__pow"}}
  ROOT %tuple.5 = ({shape}{{1,0}}, /*index=1*/{shape}{{1,0}}) tuple(%power.4, /*index=1*/%power.4)
}}
"""


def untraced(dump: str) -> str:
    return re.sub(r", metadata={[^}]*}", "", dump)


def told(before: str, after: str) -> list[tuple[str, str]]:
    return [(each.what, each.words) for each in differences(parse(before), parse(after))]


def test_a_graph() -> None:
    graph = parse(hlo(8))
    assert [each.shape for each in graph.inputs] == ["f32[8,4]"]
    assert [each.origin for each in graph.results] == ["aten::pow"] * 2
    assert [each.kind for each in graph.operations] == ["constant", "broadcast", "parameter", "power", "tuple"]
    assert graph.operations[3].operands == (2, 1)
    assert graph.operations[0].stack == (Frame(TRAIN, 7, ""),)


def test_a_graph_that_was_compiled_untraced_is_compared_all_the_same() -> None:
    site = Site()
    assert site.add(1, parse(hlo(32))) is None
    found = site.add(2, parse(untraced(hlo(17))))
    assert found is not None
    (change,) = found.differences
    assert change.words == "input 0 is f32[17,4], and was f32[32,4]"
    again = site.add(3, parse(untraced(hlo(17, constant=3))))
    assert again is not None
    (change,) = again.differences
    assert (change.words, change.stack) == ("a constant of aten::pow is 3, and was 2", (Frame(TRAIN, 7, ""),))


def test_where_one_is_untraced_the_place_is_that_of_the_other() -> None:
    site = Site()
    site.add(1, parse(hlo(8, 2)))
    found = site.add(2, parse(untraced(hlo(8, 3))))
    assert found is not None
    (change,) = found.differences
    assert (change.words, change.stack) == ("a constant of aten::pow is 3, and was 2", (Frame(TRAIN, 7, ""),))


def test_untraced_operations_are_called_as_xla_does() -> None:
    site = Site()
    site.add(1, parse(hlo(8)))
    extra = "  %negate.9 = f32[8,4]{1,0} negate(%p0.1)\n"
    found = site.add(2, parse(untraced(hlo(8, extra=extra))))
    assert found is not None
    assert [each.words for each in found.differences] == ["it has negate, which the closest one before lacks"]


def test_an_input_of_another_shape() -> None:
    assert told(hlo(32), hlo(17)) == [(SHAPE, "input 0 is f32[17,4], and was f32[32,4]")]


def test_a_type_is_no_shape() -> None:
    assert told(hlo(8), hlo(8, kind="bf16")) == [(TYPE, "input 0 is bf16[8,4], and was f32[8,4]")]


def test_a_layout_is_no_shape() -> None:
    assert told(hlo(8), hlo(8).replace("{1,0}", "{0,1}")) == []


def test_a_constant() -> None:
    (change,) = differences(parse(hlo(8, 2)), parse(hlo(8, 3)))
    assert (change.what, change.words) == (VALUE, "a constant of aten::pow is 3, and was 2")
    assert change.stack == (Frame(TRAIN, 7, ""),)


def test_two_causes_are_two() -> None:
    assert [what for what, _ in told(hlo(32, 5), hlo(17, 7))] == [SHAPE, VALUE]


@pytest.mark.parametrize(("before", "after"), [(32, 17), (31, 16), (128, 68)])
def test_a_constant_that_follows_from_a_size_is_no_second_cause(before: int, after: int) -> None:
    assert [what for what, _ in told(hlo(32, before), hlo(17, after))] == [SHAPE]


@pytest.mark.parametrize(
    ("before", "after", "explained"),
    [
        ("0.25", "0.333333343", True),
        ("slice={[0:4], [0:6]}", "slice={[0:3], [0:6]}", True),
        ("0.25", "0.2", False),
        ("slice={[0:4]}", "dimensions={3}", False),
        ("7", "7", True),
    ],
)
def test_sizes(before: str, after: str, explained: bool) -> None:
    assert Sizes(frozenset({(4, 3)})).explain(before, after) is explained


def test_an_operation_that_the_other_lacks() -> None:
    extra = '  %tanh.9 = f32[8,4]{1,0} tanh(%p0.1), metadata={op_type="aten__tanh"}\n'
    assert told(hlo(8), hlo(8, extra=extra)) == [(OPERATIONS, "it has aten::tanh, which the closest one before lacks")]
    assert told(hlo(8, extra=extra), hlo(8)) == [(OPERATIONS, "it lacks aten::tanh, which the closest one before has")]


def test_the_place_of_more_operations_is_that_of_those_added() -> None:
    def tanh(line: int) -> str:
        facts = f'op_type="aten__tanh" source_file="{TRAIN}" source_line={line}'
        return f"  %tanh.{line} = f32[8,4]{{1,0}} tanh(%p0.1), metadata={{{facts}}}\n"

    one, two = hlo(8, extra=tanh(8)), hlo(8, extra=tanh(8) + tanh(9))
    for before, after, lines in ((one, two, [9]), (two, one, [9]), (one, untraced(two), [])):
        (change,) = differences(*comparable(parse(before), parse(after)))
        assert change.what == OPERATIONS
        assert [frame.line for frame in change.stack] == lines


def test_fewer_rows_that_xla_builds_otherwise() -> None:
    extra = '  %copy.9 = f32[17,4]{1,0} copy(%p0.1), metadata={op_type="aten__pow"}\n'
    assert [what for what, _ in told(hlo(32), hlo(17, extra=extra))] == [SHAPE]


def test_another_input() -> None:
    more = "  %p1.9 = f32[3]{0} parameter(1)\n"
    assert told(hlo(8), hlo(8, extra=more)) == [(INPUTS, "it has 1 input more")]


def test_a_result_that_is_kept() -> None:
    kept = hlo(8).replace("tuple(%power.4, /*index=1*/%power.4)", "tuple(%power.4, /*index=1*/%power.4, %p0.1)")
    assert [what for what, _ in told(hlo(8), kept)] == [RESULTS]


def test_a_shape_from_the_same_inputs() -> None:
    def sliced(length: int) -> str:
        facts = f'slice={{[0:{length}], [0:4]}}, metadata={{op_type="xla__select"}}'
        return hlo(8, extra=f"  %slice.9 = f32[{length},4]{{1,0}} slice(%p0.1), {facts}\n")

    assert told(sliced(2), sliced(3)) == [
        (LENGTH, "xla::select gives f32[3,4], and gave f32[2,4], from the same inputs")
    ]


def test_the_closest_graph_is_compared_and_not_the_last() -> None:
    other = '  %tanh.9 = f32[9,4]{1,0} tanh(%p0.1), metadata={op_type="aten__tanh"}\n'
    site = Site()
    assert site.add(1, parse(hlo(32))) is None
    assert site.add(2, parse(hlo(9, extra=other * 1)))
    third = site.add(3, parse(hlo(17)))
    assert third is not None
    assert third.number == 1
    assert [each.what for each in third.differences] == [SHAPE]


def test_a_different_program_is_no_recompile() -> None:
    lines = "".join(f'  %t.{n} = f32[]{{}} tanh(%p0.1), metadata={{op_type="aten__tanh"}}\n' for n in range(20))
    site = Site()
    site.add(1, parse(hlo(8)))
    assert site.add(2, parse(hlo(8, extra=lines))) is None


def test_the_same_graph_again() -> None:
    site = Site()
    site.add(1, parse(hlo(8)))
    again = site.add(2, parse(hlo(8)))
    assert again is not None
    assert again.same
    assert again.differences == ()


def test_a_site_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xla_lint.runtime.sites.MOST", 3)
    site = Site()
    for number in range(1, 9):
        site.add(number, parse(hlo(number)))
    assert [each.number for each in site.known] == [1, 7, 8]


def unrolled(turns: int, *, fed: bool, module: bool = False) -> Graph:
    """A loop over lines 10 to 12, with something before and after it."""
    below = (Frame(TORCH, 1786, "_call_impl"),) if module else ()
    main = Frame(TRAIN, 30, "<module>")

    def built(kind: str, origin: str, line: int) -> Operation:
        return Operation(kind, "f32[4]", "0", (), origin, (Frame(TRAIN, line, "train"), *below, main))

    body = [built("add", "aten::add", 11), built("multiply", "aten::mul", 11), built("tanh", "aten::tanh", 12)]
    moved = [built("parameter", "xla::device_data", 10)] if fed else []
    return Graph((built("sine", "aten::sin", 8), *(body + moved) * turns, built("cosine", "aten::cos", 14)))


def test_turns_of_a_loop() -> None:
    turns = turns_of(unrolled(5, fed=False))
    assert turns is not None
    assert (turns.number, turns.first.line, turns.last.line, turns.fed) == (5, 11, 12, False)


def test_what_brings_something_in_each_turn() -> None:
    turns = turns_of(unrolled(4, fed=True))
    assert turns is not None
    assert turns.fed


def test_layers_are_no_turns() -> None:
    assert turns_of(unrolled(5, fed=False, module=True)) is None
    assert turns_of(unrolled(1, fed=True)) is None


def message(*pairs: tuple[int, int | bytes]) -> bytes:
    out = b""
    for number, value in pairs:
        out += varint(number << 3 | (0 if isinstance(value, int) else 2))
        out += varint(value) if isinstance(value, int) else varint(len(value)) + value
    return out


def varint(value: int) -> bytes:
    low = value & 127
    return bytes([low | 128]) + varint(value >> 7) if value > 127 else bytes([low])


def test_the_stacks_of_a_dump() -> None:
    operation = message((1, b"add.1"), (7, message((2, b"aten__add"), (15, 2))))
    index = message(
        (1, b"sub/train.py"),
        (2, b"main"),
        (2, b"step"),
        (3, message((1, 1), (2, 1), (3, 300))),
        (3, message((1, 1), (2, 2), (3, 9))),
        (4, message((1, 1))),
        (4, message((1, 2), (2, 1))),
    )
    dump = message((1, message((1, b"name"), (3, message((1, b"entry"), (2, operation))), (17, index))))
    assert stacks_of(dump, "/home/me") == {
        "add.1": (Frame("/home/me/sub/train.py", 9, "step"), Frame("/home/me/sub/train.py", 300, "main"))
    }
    assert stacks_of(dump[:-3]) == {}
    assert stacks_of(b"\xff" * 9) == {}


def test_fields_of_fixed_width() -> None:
    assert list(fields(b"\x09" + b"8bytes!!" + b"\x15four")) == [(1, b"8bytes!!"), (2, b"four")]
    with pytest.raises(WireError):
        list(fields(b"\x0a\x05abc"))
