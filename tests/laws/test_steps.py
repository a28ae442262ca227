"""Which loops are steps: each sentence on a small tree of loops, and what must hold for every tree."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from astroid import nodes

from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.loops import SHORT, Cut, CutSite, Form, Kind, Loop
from xla_lint.program.domain.steps import decide
from xla_lint.program.domain.values import UNKNOWN, Instance, Number, Sequence, Stream, Value

FEW = Stream(Number(None), counted=True, stop=Number(SHORT))
MANY = Stream(Number(None), counted=True, stop=Number(SHORT + 1))
MODELS = Sequence(None, Instance(None, "torch.nn.Linear", model=True))
ROWS = Loader(None, UNKNOWN)
ON_DEVICE = Loader(None, UNKNOWN, wrapped=True)

Work = Callable[[Loop], None]
BACKWARD: Work = Loop.note_backward
UPDATE: Work = Loop.note_optimizer_step
MODEL: Work = Loop.note_model
COMPUTE: Work = Loop.note_operation
MOVE: Work = Loop.note_move
OPAQUE: Work = Loop.note_opaque


def barrier(loop: Loop) -> None:
    """A barrier in every turn of a loop, and so in the turns of those around it."""
    site = CutSite(nodes.Pass(1, 0, None, end_lineno=1, end_col_offset=4), False, False, "torch_xla.sync()")
    for passed in (loop, *loop.around()):
        passed.pass_barrier(site, directly=passed is loop)
        passed.end_turn(Cut.ALWAYS)


def loop(parent: Loop | None, *work: Work, over: Value | None = None, form: Form = Form.LOOP) -> Loop:
    """A loop over something, whose turns do this work."""
    made = Loop(nodes.Pass(1, 0, None, end_lineno=1, end_col_offset=4), form, "run", parent)
    if over is not None:
        made.iterate(over, over if isinstance(over, Loader) else None)
    for act in work:
        act(made)
    return made


def outermost(inner: Loop) -> Loop:
    return [inner, *inner.around()][-1]


def kinds(*loops: Loop) -> list[Kind]:
    """What the loops of one tree are."""
    decide([outermost(loops[0])])
    return [each.kind for each in loops]


def alone(*work: Work, over: Value | None = None) -> Kind:
    return kinds(loop(None, *work, over=over))[0]


def pair(around: tuple[Work, ...], inside: tuple[Work, ...], over: Value | None = None) -> list[Kind]:
    """What two loops are, one in the other, which iterates `over`."""
    outer = loop(None, *around)
    return kinds(outer, loop(outer, *inside, over=over))


# One loop.


def test_a_loop_is_nothing_before_the_program_has_run() -> None:
    early = loop(None, BACKWARD)
    for ask in ("kind", "is_step", "trains", "is_trial", "changes_graphs"):
        with pytest.raises(AssertionError, match="has run"):
            getattr(early, ask)


@pytest.mark.parametrize("work", [BACKWARD, UPDATE, MODEL])
def test_training_and_running_a_model_are_steps_with_and_without_a_barrier(work: Work) -> None:
    assert alone(work) is Kind.STEP
    assert alone(work, barrier) is Kind.STEP


def test_operations_are_a_step_where_a_barrier_ends_them() -> None:
    assert alone(COMPUTE, barrier) is Kind.STEP
    assert alone(COMPUTE) is Kind.OTHER


def test_a_barrier_without_work_on_the_device_is_no_step() -> None:
    assert alone(barrier) is Kind.OTHER


def test_the_loader_of_a_device_cuts_each_step() -> None:
    assert alone(over=ON_DEVICE) is Kind.STEP


def test_a_loop_that_only_moves_batches_prepares_data() -> None:
    assert alone(MOVE, over=ROWS) is Kind.OTHER
    for work in (COMPUTE, OPAQUE, MODEL):
        assert alone(MOVE, work, over=ROWS) is Kind.STEP


def test_operations_on_what_is_not_moved_are_no_step() -> None:
    assert alone(COMPUTE, over=ROWS) is Kind.OTHER


@pytest.mark.parametrize("form", [Form.FORWARD, Form.HOOK, Form.STEP])
def test_what_is_called_every_step_is_step_code_whatever_it_does(form: Form) -> None:
    assert kinds(loop(None, form=form)) == [Kind.STEP]


def test_a_model_in_a_function_without_a_caller_may_be_part_of_a_model() -> None:
    part = loop(None, MODEL)
    part.stand(in_forward=False, periodic=False, certain=False, grad=True)
    evaluation = loop(None, MODEL)
    evaluation.stand(in_forward=False, periodic=False, certain=False, grad=False)
    assert kinds(part) == [Kind.UNROLLED]
    assert kinds(evaluation) == [Kind.STEP]


def test_an_ensemble_is_part_of_one_graph() -> None:
    assert alone(MODEL, over=MODELS) is Kind.UNROLLED
    assert alone(MODEL, over=MANY) is Kind.STEP


def test_models_that_are_trained_one_after_the_other_are_steps_where_no_loop_is_around() -> None:
    assert alone(MODEL, BACKWARD, over=MODELS) is Kind.STEP


def test_a_step_executes_a_graph_for_its_barrier_or_for_a_value_that_is_read() -> None:
    for work, executes in (((MODEL,), False), ((MODEL, barrier), True), ((MODEL, Loop.note_fetch), True)):
        decide([each := loop(None, *work)])
        assert each.executes is executes
    decide([epoch := loop(None, Loop.note_fetch)])
    assert not epoch.executes


# A loop in a loop.


@pytest.mark.parametrize("around", [(), (barrier,), (MODEL,), (COMPUTE, barrier), (MODEL, barrier)])
def test_an_epoch_loop_around_steps_is_none_whatever_barriers_it_holds(around: tuple[Work, ...]) -> None:
    assert pair(around, (BACKWARD, UPDATE, barrier)) == [Kind.EPOCH, Kind.STEP]


@pytest.mark.parametrize("around", [(), (COMPUTE,), (COMPUTE, barrier), (MODEL,)])
def test_a_loop_around_loops_that_cut_their_own_graphs_is_no_step(around: tuple[Work, ...]) -> None:
    assert pair(around, (COMPUTE, barrier)) == [Kind.EPOCH, Kind.STEP]


def test_a_loop_that_runs_a_model_to_a_barrier_is_a_step_beside_one_that_cuts_its_own_graphs() -> None:
    assert pair((MODEL, barrier), (MODEL, barrier)) == [Kind.STEP, Kind.STEP]


def test_a_loop_of_many_turns_around_evaluations_alone_is_a_trial_and_makes_graphs_of_its_own() -> None:
    for over, inside, trial in (
        (MANY, (MODEL, barrier), True),
        (FEW, (MODEL, barrier), False),
        (MANY, (BACKWARD, barrier), False),
    ):
        outer = loop(None, COMPUTE, over=over)
        barrier(inner := loop(outer, *inside[:1]))
        assert kinds(outer, inner) == [Kind.EPOCH, Kind.STEP]
        assert (outer.is_trial, outer.changes_graphs) == (trial, trial)
    outer = loop(None, COMPUTE, over=MANY)
    between = loop(outer)
    barrier(loop(between, UPDATE))
    assert kinds(outer) == [Kind.EPOCH]
    assert not outer.is_trial


def test_loops_around_several_levels_of_steps_are_none() -> None:
    folds = loop(None, COMPUTE, barrier)
    rounds = loop(folds, COMPUTE, barrier)
    steps = loop(rounds, COMPUTE, barrier)
    assert kinds(folds, rounds, steps) == [Kind.EPOCH, Kind.EPOCH, Kind.STEP]


def test_what_runs_every_few_turns_does_not_hold_the_steps() -> None:
    training = loop(None, MODEL, OPAQUE)
    evaluation = loop(training, MODEL, barrier)
    evaluation.stand(in_forward=False, periodic=True, certain=True, grad=False)
    assert kinds(training, evaluation) == [Kind.STEP, Kind.STEP]


def test_a_barrier_around_a_loop_without_one_makes_the_turn_around_the_step() -> None:
    assert pair((barrier,), (COMPUTE,)) == [Kind.STEP, Kind.OTHER]
    assert pair((barrier,), (MODEL,)) == [Kind.STEP, Kind.UNROLLED]


def test_an_evaluation_loop_in_an_epoch_is_a_step_of_its_own() -> None:
    epoch = loop(None, barrier)
    training = loop(epoch, BACKWARD, UPDATE, barrier)
    evaluation = loop(epoch, MODEL)
    assert kinds(epoch, training, evaluation) == [Kind.EPOCH, Kind.STEP, Kind.STEP]


def test_a_few_turns_are_unrolled_into_the_step_whose_barrier_ends_them() -> None:
    outer = loop(None, barrier)
    critic = loop(outer, BACKWARD, UPDATE, over=FEW)
    assert kinds(outer, critic) == [Kind.STEP, Kind.UNROLLED]
    assert outer.trains
    assert critic.trains


@pytest.mark.parametrize("over", [None, MANY, ROWS])
def test_many_turns_or_an_unknown_number_are_not_unrolled(over: Value | None) -> None:
    assert pair((barrier,), (BACKWARD, UPDATE), over) == [Kind.EPOCH, Kind.STEP]


def test_a_few_turns_are_unrolled_by_no_barrier_but_that_of_the_loop_around() -> None:
    assert pair((), (BACKWARD, UPDATE), FEW) == [Kind.EPOCH, Kind.STEP]
    assert pair((barrier,), (BACKWARD, UPDATE, barrier), FEW) == [Kind.EPOCH, Kind.STEP]


def test_a_few_turns_beside_a_loop_that_is_cut_are_not_unrolled() -> None:
    epoch = loop(None, barrier)
    warm_up = loop(epoch, BACKWARD, UPDATE, over=FEW)
    training = loop(epoch, BACKWARD, UPDATE, barrier)
    assert kinds(epoch, warm_up, training) == [Kind.EPOCH, Kind.STEP, Kind.STEP]


def test_a_few_turns_in_an_unrolled_loop_are_unrolled_with_it() -> None:
    step = loop(None, barrier)
    nets = loop(step, over=MODELS)
    rounds = loop(nets, BACKWARD, UPDATE, over=FEW)
    assert kinds(step, nets, rounds) == [Kind.STEP, Kind.UNROLLED, Kind.UNROLLED]
    assert step.trains


def test_one_model_after_the_other_is_unrolled_without_a_barrier_too() -> None:
    assert pair((), (BACKWARD, UPDATE), MODELS) == [Kind.STEP, Kind.UNROLLED]
    assert pair((), (BACKWARD, UPDATE, barrier), MODELS) == [Kind.EPOCH, Kind.STEP]


@pytest.mark.parametrize("form", [Form.FORWARD, Form.HOOK])
def test_a_model_in_a_loop_of_a_function_that_runs_every_step_is_part_of_it(form: Form) -> None:
    outer = loop(None, form=form)
    assert kinds(outer, loop(outer, MODEL)) == [Kind.STEP, Kind.UNROLLED]


def test_a_loop_in_a_forward_is_unrolled_unless_it_trains() -> None:
    for work, kind in (((MODEL, barrier), Kind.UNROLLED), ((BACKWARD,), Kind.STEP)):
        inner = loop(None, *work)
        inner.stand(in_forward=True, periodic=False, certain=True, grad=True)
        assert kinds(inner) == [kind]


def test_a_barrier_in_a_forward_or_a_hook_does_not_make_the_loop_around_an_epoch() -> None:
    for form, in_forward in ((Form.LOOP, True), (Form.HOOK, False)):
        step = loop(None, COMPUTE, barrier)
        layers = loop(step, COMPUTE, barrier, form=form)
        layers.stand(in_forward=in_forward, periodic=False, certain=True, grad=True)
        assert kinds(step)[0] is Kind.STEP


def test_a_model_in_a_loop_inside_a_training_step_is_part_of_it_at_any_depth() -> None:
    step = loop(None, BACKWARD)
    between = loop(step)
    assert kinds(step, between, loop(between, MODEL)) == [Kind.STEP, Kind.OTHER, Kind.UNROLLED]


def test_the_barrier_that_unrolls_a_few_turns_may_be_the_loaders() -> None:
    step = loop(None, over=ON_DEVICE)
    assert kinds(step, loop(step, BACKWARD, over=FEW)) == [Kind.STEP, Kind.UNROLLED]


def test_a_few_batches_of_a_loader_are_not_unrolled() -> None:
    epoch = loop(None, barrier)
    steps = loop(epoch, BACKWARD, UPDATE)
    steps.iterate(Stream(UNKNOWN, pieces=(FEW, ROWS)), ROWS)
    assert kinds(epoch, steps) == [Kind.EPOCH, Kind.STEP]


def test_a_few_turns_in_a_hook_are_steps_of_their_own_where_they_train() -> None:
    hook = loop(None, barrier, form=Form.HOOK)
    assert kinds(hook, loop(hook, BACKWARD, over=FEW)) == [Kind.STEP, Kind.STEP]


# Remainders and accumulation.


def test_an_update_after_the_loop_that_updates_is_its_remainder() -> None:
    epoch = loop(None, UPDATE, barrier)
    steps = loop(epoch, BACKWARD, UPDATE)
    assert kinds(epoch, steps) == [Kind.EPOCH, Kind.STEP]
    assert not epoch.trains


def test_the_loop_that_updates_may_stand_deeper() -> None:
    epoch = loop(None, UPDATE)
    loop(loop(epoch), BACKWARD, UPDATE)
    assert kinds(epoch) == [Kind.EPOCH]


def test_an_update_after_a_loop_that_only_collects_gradients_ends_the_step() -> None:
    step = loop(None, UPDATE, barrier)
    micro = loop(step, BACKWARD)
    assert kinds(step, micro) == [Kind.STEP, Kind.STEP]
    assert step.trains


def test_a_loop_that_collects_gradients_beside_a_critics_loop_is_a_step() -> None:
    step = loop(None, UPDATE, barrier)
    loop(step, BACKWARD, UPDATE)
    micro = loop(step, BACKWARD)
    assert kinds(step, micro) == [Kind.STEP, Kind.STEP]


# Generators.


def generator(*work: Work, takes: tuple[Work, ...] = (), over: Value | None = None) -> tuple[Loop, Loop]:
    """A loop, and that of the generator which yields it its items."""
    consumer = loop(None, *takes)
    source = loop(consumer, *work, over=over)
    source.feed(consumer)
    return consumer, source


@pytest.mark.parametrize("work", [(BACKWARD, UPDATE), (MODEL, barrier)])
def test_a_generators_steps_are_those_of_its_consumer(work: tuple[Work, ...]) -> None:
    assert kinds(*generator(*work)) == [Kind.STEP, Kind.STEP]


def test_moving_the_batches_that_are_yielded_is_part_of_the_consumers_step() -> None:
    consumer, source = generator(MOVE, takes=(MODEL,), over=ROWS)
    assert kinds(consumer, source) == [Kind.STEP, Kind.STEP]
    assert consumer.loader is ROWS


def test_a_generator_that_cuts_its_steps_makes_graphs_of_its_own() -> None:
    consumer, source = generator(MODEL, barrier)
    decide([consumer])
    assert source.changes_graphs


def test_a_generator_without_a_barrier_changes_graphs_where_its_consumer_does() -> None:
    for work in ((), (barrier,)):
        consumer, source = generator(MODEL, takes=(BACKWARD, *work))
        decide([consumer])
        assert source.changes_graphs is bool(work)


def test_a_generators_loop_does_not_make_its_consumer_an_epoch() -> None:
    assert kinds(*generator(COMPUTE, barrier, takes=(COMPUTE, barrier)))[0] is Kind.STEP
    consumer, _ = generator(BACKWARD, takes=(barrier,))
    assert kinds(consumer, loop(consumer, MODEL)) == [Kind.STEP, Kind.UNROLLED]


def test_an_epoch_around_a_generators_consumer_is_no_step() -> None:
    epoch = loop(None, barrier)
    consumer = loop(epoch)
    loop(consumer, BACKWARD, UPDATE).feed(consumer)
    assert kinds(epoch, consumer) == [Kind.EPOCH, Kind.STEP]


# Every tree.

WORK = [(), (COMPUTE,), (MODEL,), (UPDATE,), (BACKWARD,)]
BARRIERS = [(), (barrier,)]
OVER = [None, FEW, MODELS, ROWS, ON_DEVICE]
SHAPES = [(work + cut, over) for work, cut, over in itertools.product(WORK, BARRIERS, OVER)]
"""What a loop does, and what it iterates."""
FEWER = [(work + cut, over) for work, cut, over in itertools.product(WORK[::2], BARRIERS, OVER[:4])]
Shape = tuple[tuple[Work, ...], Value | None]


def tree(*shapes: Shape) -> list[Loop]:
    """Loops inside each other, the outermost first."""
    made: list[Loop] = []
    for work, over in shapes:
        made.append(loop(made[-1] if made else None, *work, over=over))
    return made


def trees() -> Iterator[tuple[Shape, ...]]:
    """All trees of two loops, and many of three."""
    yield from itertools.product(SHAPES, repeat=2)
    yield from itertools.product(FEWER, repeat=3)


def test_another_barrier_inside_never_makes_the_loop_around_a_step() -> None:
    for shapes in trees():
        made = tree(*shapes)
        before = kinds(*made)
        barrier(made[-1])
        for was, now in zip(before[:-1], kinds(*made)[:-1], strict=True):
            assert now is not Kind.STEP or was in (Kind.STEP, Kind.UNROLLED), shapes


def test_what_is_unrolled_has_no_barrier() -> None:
    for shapes in trees():
        for each, kind in zip(made := tree(*shapes), kinds(*made), strict=True):
            assert kind is not Kind.UNROLLED or not each.own_cut, shapes


def test_an_epoch_has_steps_inside() -> None:
    for shapes in trees():
        found = kinds(*tree(*shapes))
        assert all(Kind.STEP in found[depth:] for depth, kind in enumerate(found) if kind is Kind.EPOCH), shapes


def test_training_more_never_makes_a_step_another_kind() -> None:
    for shapes in trees():
        made = tree(*shapes)
        before = kinds(*made)
        BACKWARD(made[-1])
        assert before[-1] is not Kind.STEP or kinds(*made)[-1] is Kind.STEP, shapes


def test_a_plain_loop_around_changes_nothing_but_for_a_loop_over_models() -> None:
    for shapes in trees():
        if shapes[0][1] is not MODELS:
            assert kinds(*tree(((), None), *shapes))[1:] == kinds(*tree(*shapes)), shapes


def test_the_order_of_loops_beside_each_other_does_not_matter() -> None:
    for around, first, second in itertools.product(FEWER, SHAPES[::3], SHAPES[::3]):
        outer, reverse = loop(None, *around[0], over=around[1]), loop(None, *around[0], over=around[1])
        made = [loop(outer, *work, over=over) for work, over in (first, second)]
        turned = [loop(reverse, *work, over=over) for work, over in (second, first)]
        assert kinds(outer, *made) == kinds(reverse, *reversed(turned)), (around, first, second)


def test_deciding_again_says_the_same() -> None:
    for shapes in trees():
        made = tree(*shapes)
        assert kinds(*made) == kinds(*made)
