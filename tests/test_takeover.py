"""Which names a turn of a loop takes over from the turn before."""

from __future__ import annotations

import textwrap

import pytest
from astroid import nodes

from xla_lint.program.project.source import parse
from xla_lint.program.syntax.index import Index
from xla_lint.program.syntax.takeover import taken_over

BODIES = {
    "x = 1; x": False,
    "y = x; x = 1": True,
    "x += 1": True,
    "x, y = 1, x": True,
    "x[0] = 1": True,
    "(x := 1); y = x": False,
    "[x for x in y]": False,
    "[y for y in z if x]": True,
    "f(lambda x: x)": False,
    "f(lambda y: x); x = 1": True,
    "x = 1\ndef f(): return x": False,
    "def f(): return x\nx = 1": True,
    "def x(): pass\nx()": False,
    "if a: x = 1\nelse: x = 2\nx": False,
    "if a: x = 1\nx": True,
    "if a: continue\nelse: x = 1\nx": False,
    "if x: x = 1": True,
    "for x in y: x": False,
    "for x in y: pass\nx": True,
    "for y in z:\n    x = 1\nelse:\n    x": True,
    "while x: x = 1": True,
    "with a as x: x": False,
    "with x as x: pass": True,
    "try: x = 1\nexcept E: raise\nx": False,
    "try: x = 1\nexcept E: pass\nx": True,
    "try: a\nexcept E as x: x": False,
    "try: a\nfinally: x = 1\nx": False,
    "match a:\n    case [x]: x": False,
    "match a:\n    case 1: x = 1\nx": True,
    "return x": True,
    "break; x": False,
}


def taken(source: str) -> set[str]:
    module = parse(textwrap.dedent(source), "program.py")
    return taken_over(next(module.nodes_of_class((nodes.For, nodes.While))), Index(module))


@pytest.mark.parametrize(("body", "expected"), BODIES.items(), ids=BODIES)
def test_a_name_is_taken_over_where_it_may_be_read_before_it_is_bound(body: str, expected: bool) -> None:
    function = f"def f():\n    for i in a:\n{textwrap.indent(body, ' ' * 8)}\n"
    assert ("x" in taken(function)) is expected


def test_the_target_of_a_loop_is_bound_by_each_turn() -> None:
    assert "x" not in taken("for x in y: x")
    assert "x" in taken("while x: x = x.next")


def test_what_a_function_reads_from_outside_is_taken_over() -> None:
    program = """
        def f(): return x
        for i in y:
            x = f()
    """
    assert "x" in taken(program)
    assert "x" not in taken(program.replace("def f()", "def f(x)"))
    assert "x" in taken(f"def g():\n{textwrap.indent(textwrap.dedent(program), '    ')}")
