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


@pytest.mark.parametrize("blank", ["\xa0", "\u3000", "\u2003"])
def test_a_space_that_python_takes_for_none_ends_nothing(blank: str) -> None:
    text = f"import torch_xla\nfor i in range(3):\n{blank}\n    y = 2\nz = 1\n"
    assert "z = 1" in (mended(text) or "")
