"""What every rule has, and how the rules about reads, barriers and shapes judge single events."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import count

import astroid
import new_rule
import pytest
from astroid import nodes

from xla_lint.pages import family
from xla_lint.program.domain import events as happened
from xla_lint.program.domain.contexts import CallSite, Condition, Constraint, Context
from xla_lint.program.domain.events import Event, How, LibraryCall, Read
from xla_lint.program.domain.loaders import Loader, Logger
from xla_lint.program.domain.loops import Cut, CutSite, Form, Loop
from xla_lint.program.domain.steps import decide
from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Instance,
    Location,
    Number,
    Sequence,
    Tensor,
    Text,
    Value,
)
from xla_lint.program.project.scope import NEWEST, Version
from xla_lint.program.queries import Program
from xla_lint.rules import all_rules, listeners, rule_named
from xla_lint.rules.base import ELSEWHERE, HEADINGS, Confidence, Finding, Rule

_every_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.symbol)


def test_symbols_and_numbers_are_unique() -> None:
    for names in ([rule.symbol for rule in all_rules()], [rule.number for rule in all_rules()]):
        assert [name for name, times in Counter(names).items() if times > 1] == []


@_every_rule
def test_number_belongs_to_the_family(rule: type[Rule]) -> None:
    assert re.fullmatch(r"97\d\d", rule.number)
    assert int(rule.number[:3]) in new_rule.TENS[family(rule)]


@_every_rule
def test_file_is_named_after_the_symbol(rule: type[Rule]) -> None:
    assert rule.symbol == "xla-" + rule.__module__.split(".")[-1].replace("_", "-")


@_every_rule
def test_page_has_a_summary_and_the_headings_in_order(rule: type[Rule]) -> None:
    summary, _, rest = rule.page().partition("\n")
    assert summary.endswith(".")
    assert tuple(re.findall(r"^## (.*)$", rest, re.MULTILINE)) in (HEADINGS, (*HEADINGS, ELSEWHERE))
    assert all(section.strip() for section in re.split(r"^## .*$", rest, flags=re.MULTILINE)[1:])


@_every_rule
def test_message_has_named_fields_only(rule: type[Rule]) -> None:
    assert re.fullmatch(r"(?:[^%]|%\(\w+\)s|%%)*", rule.message, re.DOTALL)


@_every_rule
def test_rule_subscribes_to_events(rule: type[Rule]) -> None:
    assert rule.subscribes
    assert all(issubclass(kind, Event) for kind in rule.subscribes)


JUDGED = frozenset({"reads", "barriers", "shapes", "checkpoints"})
"""The families whose rules judge the events below."""
LOOP = 41
_lines = count(100)


def _node(line: int | None = None) -> nodes.NodeNG:
    statement: nodes.NodeNG = astroid.parse("x").body[0]
    statement.lineno = next(_lines) if line is None else line
    return statement


def _loop(**changes: object) -> Loop:
    fields: dict[str, object] = {"cut": Cut.ALWAYS, "backward": True, "optimizer": True, "computes": True}
    return _decided(Loop(_node(LOOP), Form.LOOP, "train", **(fields | changes)))  # type: ignore[arg-type]


def _decided(loop: Loop) -> Loop:
    decide([[loop, *loop.around()][-1]])
    return loop


def _in(
    *loops: Loop,
    conditions: tuple[Condition, ...] = (),
    calls: tuple[CallSite, ...] = (),
    closure: bool = False,
    callback: bool = False,
) -> Context:
    path_condition = frozenset(Constraint(condition, len(loops)) for condition in conditions)
    return Context(loops, path_condition, calls, closure, callback)


DEVICE = Tensor(Location.DEVICE, recorded_in=1, line=44)


def _read(context: Context, **changes: object) -> Read:
    fields: dict[str, object] = {
        "node": _node(),
        "context": context,
        "how": How.VALUE,
        "what": "loss",
        "spelled": ".item()",
        "tensor": DEVICE,
        "pending": True,
        "on_every_path": True,
    }
    return Read(**(fields | changes))  # type: ignore[arg-type]


def _call(
    name: str,
    *args: Value,
    context: Context | None = None,
    receiver: Value | None = None,
    unpacked: bool = False,
    **kwargs: Value,
) -> LibraryCall:
    return LibraryCall(_node(), context or _in(_loop()), name, args, kwargs, unpacked, receiver)


def _findings(*events: Event, target: Version = NEWEST) -> list[Finding]:
    program = Program(nodes.Module("train"), target)
    program.events = list(events)
    return [
        finding
        for event in events
        for kind in listeners(event)
        if family(kind) in JUDGED
        for finding in kind(program).check(event)
    ]


def _symbols(*events: Event) -> list[str]:
    return [finding.rule.symbol for finding in _findings(*events)]


def test_a_rule_chooses_among_library_calls_only_where_it_subscribes_to_them() -> None:
    choosy = [rule for rule in all_rules() if rule.is_of_interest.__func__ is not Rule.is_of_interest.__func__]  # type: ignore[attr-defined]
    assert choosy
    assert all(LibraryCall in rule.subscribes for rule in choosy)


def test_a_rule_gets_the_library_calls_of_interest_alone() -> None:
    for name in ("torch.Tensor.to", "torch_xla.launch", "my.function"):
        heard = listeners(_call(name))
        assert [rule.symbol for rule in heard] == [
            rule.symbol for rule in all_rules() if LibraryCall in rule.subscribes and rule.is_of_interest(name)
        ]


def test_message_tells_the_whole_story() -> None:
    context = _in(_loop(), calls=(CallSite("main", 60, 0), CallSite("train_step", 43, 1)))
    (finding,) = _findings(_read(context))
    assert finding.message == (
        "'loss' is read by .item() while still pending (computed on line 44), in the step loop of line 41 (through"
        " 'train_step' called on line 43): one extra execution and a stall every step; read it after torch_xla.sync(),"
        " or hand it to xm.add_step_closure"
    )
    assert finding.confidence is Confidence.HIGH


def test_advice_names_what_the_target_has() -> None:
    (finding,) = _findings(_read(_in(_loop())), target=Version(1, 13))
    assert "xm.mark_step()" in finding.message
    assert "torch_xla.sync" not in finding.message


@pytest.mark.parametrize(
    ("tensor", "on_every_path", "expected"),
    [
        (DEVICE, False, Confidence.CONTROL_FLOW),
        (DEVICE.like(certain=False), True, Confidence.INFERENCE),
        (DEVICE.like(certain=False), False, Confidence.INFERENCE),
    ],
)
def test_confidence_of_a_read(tensor: Tensor, on_every_path: bool, expected: Confidence) -> None:
    (finding,) = _findings(_read(_in(_loop()), tensor=tensor, on_every_path=on_every_path))
    assert finding.confidence is expected


@pytest.mark.parametrize(
    ("changes", "context", "expected"),
    [
        ({}, _in(_loop()), ["xla-value-read"]),
        ({"how": How.FORMAT}, _in(_loop()), ["xla-print-tensor"]),
        ({"how": How.BRANCH}, _in(_loop()), ["xla-tensor-branch"]),
        ({}, _in(_loop(), conditions=(Condition.PERIODIC,)), ["xla-periodic-read"]),
        ({"pending": False}, _in(_loop(), conditions=(Condition.PERIODIC,)), ["xla-periodic-read"]),
        ({"pending": False, "how": How.FORMAT}, _in(_loop()), ["xla-late-read"]),
        ({}, _in(_loop(), conditions=(Condition.RANK,)), ["xla-rank-read"]),
        ({}, _in(), []),
        ({"pending": False}, _in(_loop(), closure=True), []),
        ({}, _in(_loop(), closure=True), ["xla-value-read"]),
        ({"how": How.FORMAT, "logger": Logger(), "level": 20}, _in(_loop()), []),
        ({"how": How.FORMAT, "logger": Logger(), "level": 30}, _in(_loop()), ["xla-print-tensor"]),
        ({"how": How.FORMAT, "logger": Logger(20), "level": 20}, _in(_loop()), ["xla-print-tensor"]),
        ({"how": How.FORMAT, "logger": Logger(40), "level": 30}, _in(_loop()), []),
    ],
)
def test_each_read_has_one_symbol(changes: dict[str, object], context: Context, expected: list[str]) -> None:
    assert _symbols(_read(context, **changes)) == expected


def test_the_costliest_context_of_a_node_speaks() -> None:
    node = _node()
    late = _read(_in(_loop()), node=node, pending=False)
    periodic = _read(_in(_loop(), conditions=(Condition.PERIODIC,)), node=node)
    full = _read(_in(_loop()), node=node)
    outside = _read(_in(), node=node)
    assert _symbols(outside, late) == ["xla-late-read"]
    assert _symbols(late, periodic, outside) == ["xla-periodic-read"]
    assert _symbols(late, full, periodic) == ["xla-value-read"]


NORMAL = "torch.distributions.Normal"
DIVERGENCE = "torch.distributions.kl_divergence"
ENCODER = "torch.nn.TransformerEncoder.__call__"
LOG = "lightning.LightningModule.log"


def distribution(name: str, place: Location = Location.DEVICE) -> Instance:
    return Instance(None, f"torch.distributions.{name}", {"probs": Tensor(place)})


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        (_call(NORMAL, DEVICE, DEVICE), True),
        (_call("torch.distributions.normal.Normal", DEVICE, Number(1.0)), True),
        (_call(NORMAL, DEVICE, DEVICE, validate_args=Number(False)), False),
        (_call(NORMAL, DEVICE, DEVICE, validate_args=UNKNOWN), False),
        (_call(NORMAL, DEVICE, DEVICE, unpacked=True), False),
        (_call(NORMAL, Tensor(Location.HOST), Number(1.0)), False),
        (_call(NORMAL, DEVICE, DEVICE, context=_in()), False),
        (_call(NORMAL, DEVICE, DEVICE, context=_in(_loop(), conditions=(Condition.PERIODIC,))), False),
        (_call("torch.distributions.Independent", DEVICE, Number(1)), False),
        (_call("torch.distributions.StudentT", DEVICE, validate_args=Number(False)), True),
        (_call(DIVERGENCE, distribution("Categorical"), distribution("Categorical")), True),
        (_call(DIVERGENCE, distribution("Categorical", Location.HOST), distribution("Categorical")), False),
        (_call(DIVERGENCE, distribution("Normal"), distribution("Normal")), False),
        (_call(DIVERGENCE, UNKNOWN, distribution("Categorical")), False),
        (_call(ENCODER, DEVICE, mask=DEVICE), True),
        (_call(ENCODER, DEVICE, mask=DEVICE, is_causal=Number(True)), False),
        (_call(ENCODER, DEVICE), False),
        (_call(ENCODER, DEVICE, mask=NONE), False),
        (_call("torch.nn.TransformerDecoder.__call__", DEVICE, DEVICE, memory_mask=DEVICE), False),
        (_call("torch.nn.TransformerDecoder.__call__", DEVICE, DEVICE, tgt_mask=DEVICE), True),
        (_call("torch.autograd.detect_anomaly"), True),
        (_call("torch.autograd.detect_anomaly", check_nan=Number(False)), False),
        (_call("torch.autograd.set_detect_anomaly", Number(True)), True),
        (_call("torch.autograd.set_detect_anomaly", Number(False)), False),
        (_call("torch.linalg.inv", DEVICE), True),
        (_call("torch.linalg.inv", Tensor(Location.HOST)), False),
        (_call(LOG, Text("loss"), DEVICE, sync_dist=Number(True)), True),
        (_call(LOG, Text("loss"), DEVICE, sync_dist=Number(True), on_step=Number(False)), False),
        (_call(LOG, Text("loss"), DEVICE), False),
    ],
)
def test_hidden_reads(call: LibraryCall, reported: bool) -> None:
    assert _symbols(call) == (["xla-hidden-read"] if reported else [])


@pytest.mark.parametrize(("hook", "reported"), [("training_step", True), ("validation_step", False)])
def test_lightning_synchronises_each_step_in_training_hooks(hook: str, reported: bool) -> None:
    step = _decided(Loop(_node(), Form.HOOK, hook))
    assert bool(_symbols(_call(LOG, Text("loss"), DEVICE, context=_in(step), sync_dist=Number(True)))) is reported


def test_anomaly_mode_lasts() -> None:
    switch = _call("torch.autograd.set_detect_anomaly", Number(True), context=_in())
    assert _symbols(switch) == []
    closure = happened.StepClosure(_node(), _in(_loop()), None)
    assert _symbols(switch, closure) == ["xla-hidden-read"]


def test_validation_switched_off_for_the_program() -> None:
    off = _call("torch.distributions.Distribution.set_default_validate_args", Number(False), context=_in())
    assert _symbols(off, _call(NORMAL, DEVICE, DEVICE)) == []
    divergence = _call(DIVERGENCE, distribution("Bernoulli"), distribution("Bernoulli"))
    assert _symbols(off, divergence) == ["xla-hidden-read"]


def _run(loop: Loop) -> list[str]:
    return _symbols(happened.LoopRun(loop.node, _in(loop), loop))


def test_missing_sync() -> None:
    never: dict[str, object] = {"cut": Cut.NEVER}
    assert _run(_loop(**never)) == ["xla-missing-sync"]
    assert _run(_loop()) == []
    assert _run(_loop(**never, opaque=True)) == []
    assert _run(_loop(**never, loader=Loader(None, UNKNOWN, wrapped=True))) == []
    assert _run(_loop(**never, parent=_loop())) == []
    assert _run(_loop(**never, parent=Loop(_node(), Form.LOOP, "main"))) == ["xla-missing-sync"]


def test_conditional_sync() -> None:
    periodic = CutSite(_node(), periodic=True, conditional=True, spelled="torch_xla.sync()")
    always = CutSite(_node(), periodic=False, conditional=False, spelled="torch_xla.sync()")
    unlikely = CutSite(_node(), periodic=False, conditional=True, spelled="torch_xla.sync()")
    assert _run(_loop(cut=Cut.SOMETIMES, cuts=[unlikely, periodic])) == ["xla-conditional-sync"]
    assert _run(_loop(cut=Cut.SOMETIMES, cuts=[periodic, always])) == []
    assert _run(_loop(cut=Cut.SOMETIMES, cuts=[unlikely])) == []
    assert _run(_loop(cut=Cut.ALWAYS, cuts=[periodic])) == []


def test_closure_never_runs_where_the_loop_has_no_barrier() -> None:
    assert _symbols(happened.StepClosure(_node(), _in(_loop(cut=Cut.NEVER)), None)) == ["xla-closure-never-runs"]
    assert _symbols(happened.StepClosure(_node(), _in(_loop()), None)) == []
    assert _symbols(happened.StepClosure(_node(), _in(_loop()), "a value")) == ["xla-closure-argument"]


MODEL = "torch_xla.core.xla_model."


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        (_call(MODEL + "mesh_reduce", Text("loss"), DEVICE, UNKNOWN), True),
        (_call(MODEL + "mesh_reduce", Text("loss"), DEVICE, UNKNOWN, context=_in()), False),
        (
            _call(MODEL + "mesh_reduce", Text("loss"), DEVICE, context=_in(_loop(), conditions=(Condition.PERIODIC,))),
            False,
        ),
        (_call(MODEL + "rendezvous", Text("saved")), True),
        (_call(MODEL + "rendezvous", Text("saved"), context=_in()), False),
        (_call(MODEL + "rendezvous", Text("saved"), UNKNOWN), True),
        (_call("torch.distributed.gather_object", DEVICE), True),
    ],
)
def test_costly_collectives(call: LibraryCall, reported: bool) -> None:
    assert _symbols(call) == (["xla-costly-collective"] if reported else [])


TOKENIZER = "transformers.PreTrainedTokenizer."
MAX_LENGTH = Text("max_length")
TRUE = Number(True)
CALLBACK = _in(callback=True)
KNOWN = Instance(None, "transformers.PreTrainedTokenizer", {"model_max_length": Number(512)})
DYNAMIC, INCOMPLETE = ["xla-dynamic-padding"], ["xla-incomplete-padding"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (_call(TOKENIZER + "__call__", UNKNOWN, context=CALLBACK, padding=TRUE), DYNAMIC),
        (_call(TOKENIZER + "__call__", UNKNOWN, context=CALLBACK, padding=Text("longest")), DYNAMIC),
        (_call(TOKENIZER + "__call__", UNKNOWN, context=_in(), padding=TRUE), []),
        (_call(TOKENIZER + "__call__", UNKNOWN, context=CALLBACK), []),
        (_call(TOKENIZER + "__call__", UNKNOWN, context=CALLBACK, padding=UNKNOWN), []),
        (_call(TOKENIZER + "pad", UNKNOWN, context=CALLBACK), DYNAMIC),
        (_call(TOKENIZER + "pad", UNKNOWN, Number(False), context=CALLBACK), []),
        (_call(TOKENIZER + "__call__", UNKNOWN, context=CALLBACK, padding=MAX_LENGTH, truncation=TRUE), INCOMPLETE),
        (_call(TOKENIZER + "__call__", padding=MAX_LENGTH, truncation=TRUE, receiver=KNOWN), []),
        (_call(TOKENIZER + "__call__", padding=MAX_LENGTH, max_length=UNKNOWN), INCOMPLETE),
        (_call(TOKENIZER + "__call__", padding=MAX_LENGTH, max_length=UNKNOWN, truncation=Number(False)), INCOMPLETE),
        (_call(TOKENIZER + "__call__", padding=MAX_LENGTH, max_length=UNKNOWN, truncation=UNKNOWN), []),
        (_call(TOKENIZER + "__call__", padding=MAX_LENGTH, unpacked=True), []),
        (_call("transformers.DataCollatorWithPadding", KNOWN, context=_in()), DYNAMIC),
        (_call("transformers.DataCollatorForSeq2Seq", KNOWN, UNKNOWN, context=_in()), DYNAMIC),
        (_call("transformers.DataCollatorForSeq2Seq", UNKNOWN, padding=MAX_LENGTH, max_length=UNKNOWN), []),
        (_call("transformers.DataCollatorWithPadding", UNKNOWN, padding=MAX_LENGTH), INCOMPLETE),
        (_call("transformers.DataCollatorForLanguageModeling", UNKNOWN, context=_in()), []),
        (_call("torch.nn.utils.rnn.pad_sequence", UNKNOWN, context=CALLBACK), DYNAMIC),
        (_call("torch.nn.utils.rnn.pad_sequence", UNKNOWN, context=_in()), []),
        (
            _call(
                "torch.nn.utils.rnn.pad_sequence",
                Sequence(None, Tensor(Location.HOST, length=24)),
                context=CALLBACK,
            ),
            [],
        ),
    ],
)
def test_padding(call: LibraryCall, expected: list[str]) -> None:
    assert _symbols(call) == expected


def test_no_source_shows_that_a_row_is_too_long() -> None:
    call = _call(TOKENIZER + "__call__", padding=MAX_LENGTH, max_length=Number(64))
    assert [finding.confidence for finding in _findings(call)] == [Confidence.INFERENCE]


def test_collators_follow_the_rows() -> None:
    collator = _call("transformers.DataCollatorWithPadding", UNKNOWN, context=_in())
    language = _call("transformers.DataCollatorForLanguageModeling", UNKNOWN, context=_in())
    fixed = _call(TOKENIZER + "__call__", context=CALLBACK, padding=MAX_LENGTH, max_length=UNKNOWN, truncation=TRUE)
    ragged = _call(TOKENIZER + "__call__", context=CALLBACK, truncation=TRUE)
    whole = _call(TOKENIZER + "__call__", context=CALLBACK)
    assert _symbols(collator, fixed) == []
    assert _symbols(collator, fixed, ragged) == DYNAMIC
    assert _symbols(language, ragged) == DYNAMIC
    assert _symbols(language, whole) == []
    assert _symbols(language, fixed) == []


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({}, True),
        ({"batch_size": UNKNOWN}, True),
        ({"drop_last": Number(False)}, True),
        ({"drop_last": Number(True)}, False),
        ({"drop_last": UNKNOWN}, False),
        ({"endless": True}, False),
        ({"batch_size": None}, False),
        ({"batch_size": NONE}, False),
        ({"batch_size": Number(1)}, False),
        ({"rows": 64}, False),
        ({"rows": 50}, True),
        ({"rows": 10}, False),
        ({"fed": False}, False),
    ],
)
def test_ragged_batches(changes: dict[str, object], reported: bool) -> None:
    fields: dict[str, object] = {"batch_size": Number(16), "fed": True}
    loader = Loader(_node(), UNKNOWN, **(fields | changes))  # type: ignore[arg-type]
    assert ("xla-ragged-batch" in _symbols(happened.LoaderBuilt(_node(), _in(), loader))) is reported


def test_changing_numbers_need_graphs_of_their_own() -> None:
    step = _loop()
    unrolled = _loop(cut=Cut.NEVER, backward=False, optimizer=False)
    for shape, symbol in ((True, "xla-changing-shape"), (False, "xla-changing-constant")):
        number = Number(loops=frozenset({step}))
        assert _symbols(happened.Changing(_node(), _in(step, unrolled), "x[i]", number, shape)) == [symbol]
        inner = Number(loops=frozenset({unrolled}))
        assert _symbols(happened.Changing(_node(), _in(step, unrolled), "x[i]", inner, shape)) == []


def test_growing_tensor_needs_graphs_of_its_own() -> None:
    for loop, expected in ((_loop(), ["xla-growing-tensor"]), (_loop(cut=Cut.NEVER), [])):
        assert _symbols(happened.Growing(_node(), _in(loop), "x", loop)) == expected


@pytest.mark.parametrize(
    ("event", "symbol"),
    [
        (happened.DataShape(_node(), _in(_loop()), "x[mask]"), "xla-data-dependent-shape"),
        (happened.HostChoice(_node(), _in(_loop()), "branch"), "xla-host-random"),
        (happened.History(_node(), _in(_loop()), "total", _loop()), "xla-graph-growth"),
        (happened.SplitStep(_node(), _in(_loop()), "torch_xla.sync", _node()), "xla-split-step"),
        (happened.Barrier(_node(), _in(_loop()), "torch_xla.sync()", True), "xla-redundant-sync"),
    ],
)
def test_events_that_count_in_step_code_only(event: Event, symbol: str) -> None:
    assert _symbols(event) == [symbol]
    assert _symbols(replace(event, context=_in())) == []


GENERATE = "transformers.PreTrainedModel.generate"
ON_DEVICE = Instance(None, "transformers.PreTrainedModel", place=Location.DEVICE, model=True)
ON_HOST = Instance(None, "transformers.PreTrainedModel", place=Location.HOST, model=True)


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        (_call(GENERATE, UNKNOWN, context=_in(), receiver=ON_DEVICE), True),
        (_call(GENERATE, UNKNOWN, receiver=ON_DEVICE, cache_implementation=Text("dynamic")), True),
        (_call(GENERATE, UNKNOWN, receiver=ON_DEVICE, cache_implementation=Text("static")), False),
        (_call(GENERATE, UNKNOWN, receiver=ON_DEVICE, generation_config=UNKNOWN), False),
        (_call(GENERATE, UNKNOWN, receiver=ON_DEVICE, unpacked=True), False),
        (_call(GENERATE, UNKNOWN, receiver=ON_HOST), False),
    ],
)
def test_generation(call: LibraryCall, reported: bool) -> None:
    assert _symbols(call) == (["xla-dynamic-generate"] if reported else [])


def test_rules_are_found_by_symbol() -> None:
    assert rule_named("xla-value-read").code() == "W9701"
    with pytest.raises(KeyError):
        rule_named("xla-no-such-rule")
