"""Whatever the program: no crash, no explosion, the same findings each time, and none that depend on how it is written.

`--hypothesis-profile=long` draws many more programs, and other ones each time.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from astroid import nodes
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.grammar import programs
from tests.transforms import findings_of, padded, reformatted, renamed, restored, signatures, wrapped
from xla_lint.program.interpreter.interpreter import Interpreter
from xla_lint.program.project.source import decode, read

ROOT = Path(__file__).parent
WRITTEN = sorted(path for folder in ("fixtures", "guides", "programs") for path in (ROOT / folder).rglob("*.py"))
MOST_STATEMENTS = 20_000
"""So many statements may be interpreted for a program of a few dozen lines, at most."""
Transform = Callable[[str, random.Random], str]
TRANSFORMS: tuple[Transform, ...] = (reformatted, renamed, padded, wrapped)


def told(source: str) -> list[tuple[object, ...]]:
    return [(f.node.lineno, f.node.col_offset, f.rule.symbol, f.message) for f in findings_of(source)]


def compiles(source: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "program.py", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


@pytest.fixture(scope="module", autouse=True)
def _bounded() -> Iterable[None]:
    """Count the statements that are interpreted, and stop where there are too many."""
    with pytest.MonkeyPatch.context() as patch:
        run = Interpreter.run
        counts: Counter[int] = Counter()

        def counted(machine: Interpreter, body: Iterable[nodes.NodeNG]) -> None:
            statements = list(body)
            counts[id(machine)] += len(statements)
            assert counts[id(machine)] < MOST_STATEMENTS
            run(machine, statements)

        patch.setattr(Interpreter, "run", counted)
        yield


def check(source: str, transform: Transform, seed: int) -> None:
    """Compare the findings of a program with those of the same one, written differently."""
    other = signatures(transform(source, random.Random(seed)))
    if transform is renamed:
        other = Counter({restored(key, source, random.Random(seed)): count for key, count in other.items()})
    assert other == signatures(source)


class TestDrawn:
    @given(programs())
    def test_the_same_findings_each_time(self, source: str) -> None:
        assume(compiles(source))
        first, second = (
            [
                (found.node.lineno, found.node.col_offset, found.rule.symbol, found.message)
                for found in findings_of(source)
            ]
            for _ in range(2)
        )
        assert first == second

    @pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.__name__)
    @given(source=programs(), seed=st.integers(0, 99))
    def test_the_same_findings_however_written(self, transform: Transform, source: str, seed: int) -> None:
        assume(compiles(source))
        check(source, transform, seed)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.__name__)
@given(path=st.sampled_from(WRITTEN), seed=st.integers(0, 99))
def test_written_programs_however_written(transform: Transform, path: Path, seed: int) -> None:
    check(decode(read(path)), transform, seed)
