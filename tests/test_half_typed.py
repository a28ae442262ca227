"""Half-typed code: what does not parse is cut, the rest stays on its lines."""

from __future__ import annotations

import ast
import random

import pytest

from tests.test_fixtures import FIXTURES
from xla_lint.program.syntax.half_typed import fault, mended

PROGRAM = '''\
import torch
from meters import (
    note,
)

class Net:
    """A text

that begins further left
    """
    @property
    def size(self):
        return 1

def main():
    try:
        for x in range(10):
            loss = model(x)
            TYPED
            if loss.item() > 3:
                print(loss)
            elif x:
                pass
            else:
                torch_xla.sync()
    except ValueError:
        pass
    finally:
        done()

main()
'''
LINE = PROGRAM.split("\n").index("            TYPED") + 1


def cut(text: str) -> list[int]:
    """The lines that are not as they were."""
    rest = mended(text)
    assert rest is not None
    ast.parse(rest)
    before, after = text.split("\n"), rest.split("\n")
    assert len(before) == len(after)
    return [number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]]


@pytest.mark.parametrize(
    "typed",
    [
        *("loss.", "loss = model(x", "note(a, b", "x = [1,", "x = {", "x = = 1", ")", "return (", "lambda", "x.item(."),
        *("if x", "if x:", "for y in", "for y in z:", "while", "with torch.no_grad(", "with a as", "try:", "match x:"),
        *("def g(", "def g():", "class A(", "import", "from x import", "from x import (", "print('abc", 'print("""abc'),
        *("x = f'{a", "async", "await", "del", "raise ValueError(", "assert", "*a, = ", "x: list["),
    ],
)
def test_the_line_that_is_typed_alone_is_cut(typed: str) -> None:
    assert cut(PROGRAM.replace("TYPED", typed)) == [LINE]


def test_names_that_were_bound_there_are_unknown() -> None:
    rest = mended("loss = 1\nloss, total = model(\nprint(loss)\n")
    assert rest == "loss = 1\nloss = total = get_ipython().run()\nprint(loss)\n"


@pytest.mark.parametrize(
    ("head", "lines"),
    [
        ("for x in range(10):", 11),
        ("if loss.item() > 3:", 6),
        ("def main():", 16),
    ],
)
def test_a_broken_head_takes_its_body_along(head: str, lines: int) -> None:
    text = PROGRAM.replace("TYPED", "pass").replace(head, head[:-2])
    assert 0 < len(cut(text)) <= lines


def test_what_parses_stays() -> None:
    text = PROGRAM.replace("TYPED", "pass")
    assert fault(text) is None
    assert mended(text) == text


def test_wherever_one_stops_typing_something_is_left() -> None:
    chosen = random.Random(3)
    paths = chosen.sample(sorted(FIXTURES.glob("*/good_*.py")), 12)
    for path in paths:
        lines = path.read_text(encoding="utf-8").split("\n")
        for _ in range(6):
            number = chosen.choice([n for n, line in enumerate(lines) if len(line.strip()) > 3])
            text = lines[number]
            broken = [*lines]
            broken[number] = text[: chosen.randrange(len(text) - len(text.lstrip()) + 1, len(text))]
            source = "\n".join(broken)
            if fault(source) is not None:
                changed = cut(source)
                assert number + 1 in changed, (path.name, number, broken[number])


@pytest.mark.parametrize(
    "typed", ["loss.", "note(a, b", "x = = 1", "print(x)", "return", 'print("""abc""" ', "x = [1, 2"]
)
@pytest.mark.parametrize("indent", ["", "    ", "        "])
def test_a_line_too_far_left_leaves_the_body_around_it(typed: str, indent: str) -> None:
    text = PROGRAM.replace("            TYPED", indent + typed)
    assert cut(text) == [LINE]
    assert (mended(text) or "").split("\n")[LINE - 1].startswith(" " * 12)


def test_several_lines_too_far_left_leave_the_body_around_them() -> None:
    assert cut(PROGRAM.replace("            TYPED", "loss.\nx = [\nnote(a")) == [LINE, LINE + 1, LINE + 2]


@pytest.mark.parametrize("call", ["note(a b,\n    c,\n)", "x = [\n    1 2,\n    3]", "note(a,\n    b = = c)"])
def test_a_broken_call_of_several_lines_goes_into_no_body_above(call: str) -> None:
    text = f"for x in y:\n    print(x)\n{call}\nz = 1\n"
    rest = mended(text) or ""
    assert len(ast.parse(rest).body[0].body) == 1  # type: ignore[attr-defined]
    assert rest.endswith("\nz = 1\n")


def test_a_broken_head_gives_its_body_to_no_other() -> None:
    rest = mended("for x in y:\n    print(x)\nfor z in range(10\n    print(z)\n") or ""
    assert len(ast.parse(rest).body[0].body) == 1  # type: ignore[attr-defined]


def test_comments_above_a_body_do_not_matter() -> None:
    assert cut("# about\n\nfor x in y:\n    # more\n    print(x)\nloss.\n    print(y)\n") == [6]


def test_without_a_body_above_lines_too_far_right_are_cut() -> None:
    assert cut("x = 1\nloss.\n    y = 2\nz = 3\n") == [2, 3]


@pytest.mark.parametrize("step", ["    ", "\t", "  "])
def test_a_line_too_far_left_right_behind_a_head(step: str) -> None:
    text = f"def f():\n{step}for x in y:\nprint(\n{step}{step}z = 1\n{step}return z\n"
    assert cut(text) == [3]


@pytest.mark.parametrize("step", ["    ", "\t"])
def test_a_line_too_far_right_takes_no_others_along(step: str) -> None:
    assert cut(f"def f():\n{step}  x = 1\n{step}y = 2\n{step}for z in y:\n{step}{step}print(z)\n") == [2]
    assert cut("  # about\n  x = 1\ny = 2\n") == [2]


class TestConflicts:
    @pytest.mark.parametrize("base", ["", "||||||| merged\n    x = 0\n"])
    @pytest.mark.parametrize("indented", [True, False])
    def test_our_side_counts(self, base: str, *, indented: bool) -> None:
        conflict = f"<<<<<<< HEAD\n    x = 1\n{base}=======\n    x = 2\n    sync()\n>>>>>>> other\n"
        text = f"for i in y:\n{conflict}    print(x)\n" if indented else conflict.replace("    ", "") + "print(x)\n"
        rest = mended(text) or ""
        assert rest.count("\n") == text.count("\n")
        assert [line.strip() for line in rest.split("\n") if line.strip()][-2:] == ["x = 1", "print(x)"]

    def test_one_that_has_no_end_is_text_like_any_other(self) -> None:
        rest = mended("x = 1\n<<<<<<< HEAD\ny = 2\n=======\nz = 3\n") or ""
        assert {"x = 1", "y = 2", "z = 3"} <= set(rest.split("\n"))

    def test_our_side_may_be_empty(self) -> None:
        assert mended("for i in y:\n<<<<<<< HEAD\n=======\n    x = 2\n>>>>>>> other\nz = 1\n") is not None


@pytest.mark.parametrize("blank", ["\xa0", "\u3000", "\u2003"])
def test_a_space_that_python_takes_for_none_ends_nothing(blank: str) -> None:
    text = f"import torch_xla\nfor i in range(3):\n{blank}\n    y = 2\nz = 1\n"
    assert "z = 1" in (mended(text) or "")
