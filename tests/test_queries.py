"""What rules may ask of a program: its events by kind, name, loop and node, and what objects and files hold."""

from __future__ import annotations

from collections import Counter

import astroid
from astroid import nodes

from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.contexts import Context
from xla_lint.program.domain.events import Barrier, Event, LibraryCall
from xla_lint.program.domain.loops import Form, Loop
from xla_lint.program.domain.values import NONE, Instance, Location, Number, Origin, Tensor, Value
from xla_lint.program.project.scope import NEWEST, Version
from xla_lint.program.queries import (
    Program,
    calls_in_other_branches,
    dotted_name,
    origins_held,
    setting,
    use_of,
    wrapped_function,
)

SOURCE = """
import torch_xla.core.xla_model as xm

class Trainer:
    def step(self):
        work()

def main():
    if xm.is_master_ordinal():
        xm.save(state, path)
    else:
        save(state, path)
"""
MODULE = astroid.parse(SOURCE)
CALLS: dict[str, nodes.Call] = {call.as_string().partition("(")[0]: call for call in MODULE.nodes_of_class(nodes.Call)}


def loop(parent: Loop | None = None) -> Loop:
    return Loop(nodes.Module("loop"), Form.LOOP, "train", parent=parent)


def call(name: str, *loops: Loop, node: nodes.NodeNG = MODULE, args: tuple[Value, ...] = ()) -> LibraryCall:
    return LibraryCall(node, Context(loops, frozenset(), (), False, False), name, args, {}, False)


def barrier(*loops: Loop) -> Barrier:
    return Barrier(MODULE, Context(loops, frozenset(), (), False, False), "sync", False)


def program(*events: Event, target: Version = NEWEST) -> Program:
    return Program(MODULE, target, list(events))


def test_events_of_a_kind_are_those_alone() -> None:
    first, second, cut = call("a"), call("b"), barrier()
    assert program(first, cut, second).of(LibraryCall) == [first, second]
    assert program(first, cut, second).of(Barrier) == [cut]
    assert program().of(Barrier) == []


def test_calls_of_several_names_come_in_the_order_in_which_they_happen() -> None:
    events = [call("b"), call("a"), call("c"), call("b")]
    asked = program(*events)
    assert asked.calls("a", "b") == [events[0], events[1], events[3]]
    assert asked.calls("b") == [events[0], events[3]]
    assert asked.calls_where(lambda name: name > "a") == [events[0], events[2], events[3]]
    assert asked.calls("d") == []


def test_a_name_is_called_or_not() -> None:
    asked = program(call("torch.save"), barrier())
    assert asked.has_call("torch.load", "torch.save")
    assert not asked.has_call("torch.load")
    assert not asked.has_call()


def test_events_inside_a_loop_are_those_of_inner_loops_too() -> None:
    outer = loop()
    inner = loop(outer)
    before, shallow, deep = call("a"), call("b", outer), call("c", outer, inner)
    asked = program(before, shallow, deep)
    assert asked.inside(outer) == [shallow, deep]
    assert asked.inside(inner) == [deep]
    assert asked.inside(loop()) == []


def test_a_loop_is_searched_once_for_each_test() -> None:
    around = loop()
    asked = program(*(call("a", around) for _ in range(5)), barrier(around))
    looked: Counter[str] = Counter()

    def cuts(event: Event) -> bool:
        looked["cuts"] += 1
        return isinstance(event, Barrier)

    def launches(_: Event) -> bool:
        looked["launches"] += 1
        return False

    for _ in range(3):
        assert asked.any_inside(around, cuts)
        assert not asked.any_inside(around, launches)
    assert looked == {"cuts": 6, "launches": 6}


def test_events_are_found_by_the_function_and_the_class_whose_source_holds_them() -> None:
    method, module_level = call("work", node=CALLS["work"]), call("other")
    asked = program(method, module_level)
    trainer = MODULE["Trainer"]
    assert asked.written_in(trainer) == asked.written_in(trainer["step"]) == [method]
    assert asked.written_in(MODULE["main"]) == []
    assert asked.at(CALLS["work"]) == [method]


def test_a_program_needs_torch_xla_where_its_entry_does() -> None:
    entry = astroid.parse("import torch_xla\nif __name__ == '__main__':\n    torch_xla.sync()\n")
    module = astroid.parse("import torch\ntorch.ones(2)")
    alone = Program(module, NEWEST)
    assert (alone.needs_xla(module), alone.is_script(module)) == (False, False)
    imported = Program(entry, NEWEST)
    assert (imported.needs_xla(module.body[1]), imported.is_script(module.body[1])) == (True, True)


RELEASES = (Version(2, 4), Version(2, 5))


def test_the_release_decides_how_things_are_spelled() -> None:
    assert program().barrier == "torch_xla.sync()"
    assert program(target=Version(2, 3)).barrier == "xm.mark_step()"
    spellings = [[program(target=target).spell(role) for role in (Role.COUNT, Role.RANK)] for target in RELEASES]
    assert spellings == [["xm.xrt_world_size()", "xm.get_ordinal()"], ["xr.world_size()", "xr.global_ordinal()"]]


def test_calls_in_other_branches_leave_out_the_own_one() -> None:
    assert [found.as_string() for found in calls_in_other_branches(CALLS["save"])] == ["xm.save(state, path)"]
    assert [found.as_string() for found in calls_in_other_branches(CALLS["xm.save"])] == ["save(state, path)"]
    assert list(calls_in_other_branches(CALLS["xm.is_master_ordinal"])) == []
    assert list(calls_in_other_branches(CALLS["work"])) == []


def test_a_name_stands_for_what_was_imported() -> None:
    assert dotted_name(CALLS["xm.save"].func) in names(Role.SAVE)
    assert dotted_name(CALLS["save"].func) is None


def test_a_name_s_use_shows_what_it_is() -> None:
    module = astroid.parse("optimizer = build()\noptimizer.zero_grad()\noptimizer.step()\nother = build()")
    targets = [statement.targets[0] for statement in module.body if isinstance(statement, nodes.Assign)]
    assert [use_of(target).is_optimizer for target in targets] == [True, False]


def test_objects_hold_what_they_were_given() -> None:
    model = Instance(None, "torch.nn.Linear", model=True)
    origin = Origin(model, model, 0, 0)
    optimizer = Instance(None, "torch.optim.SGD", {"params": Tensor(Location.DEVICE, origins=frozenset({origin}))})
    assert origins_held(optimizer) == {origin}
    assert origins_held(Instance(None, "torch.optim.SGD")) == frozenset()
    partial = Instance(None, "functools.partial", {"function": model})
    assert wrapped_function(partial) is model
    assert wrapped_function(optimizer) is None


def test_a_setting_that_is_not_known_is_none() -> None:
    scaler = Instance(None, "torch.amp.GradScaler", {"enabled": Number(False)})
    assert setting(scaler, "enabled") == Number(False)
    assert setting(scaler, "device") is None
    assert setting(NONE, "enabled") is None
    assert setting(None, "enabled") is None
