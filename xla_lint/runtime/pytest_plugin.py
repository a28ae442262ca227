"""pytest: a budget on what a test may compile.

The marker `xla_compile_budget(1, after=2)` puts one on a whole test; the fixture `xla_compile_budget` gives
`assert_max_compiles`, to put one on a part: `with xla_compile_budget(1): ...`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from xla_lint.runtime import tpu_cache
from xla_lint.runtime.counter import TooManyCompilesError, assert_max_compiles
from xla_lint.runtime.counts import RuntimeMissingError
from xla_lint.runtime.debugfile import record_compilations
from xla_lint.runtime.tpu_cache import UntoldError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

MARKER = "xla_compile_budget"


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(limit, after=0): fail the test if it compiles more than `limit` XLA graphs after its first "
        "`after` steps",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where a test has a budget, have torch_xla record what compiles, while that is still possible."""
    if any(item.get_closest_marker(MARKER) or MARKER in getattr(item, "fixturenames", ()) for item in items):
        record_compilations()


@pytest.fixture
def xla_compile_budget() -> type[assert_max_compiles]:
    """`assert_max_compiles`, to put a budget on a part of a test; skips the test without a backend."""
    if not tpu_cache.chosen():
        pytest.importorskip("torch_xla")
    return assert_max_compiles


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a marked test within its budget."""
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        return (yield)
    with _without_traceback(f"marker {MARKER}: ", TypeError, ValueError):
        budget = assert_max_compiles(*marker.args, **marker.kwargs)
    with _without_traceback("", RuntimeMissingError, UntoldError):
        budget.__enter__()
    try:
        result = yield
    except BaseException as error:
        budget.__exit__(type(error), error, error.__traceback__)
        raise
    with _without_traceback("", TooManyCompilesError):
        budget.__exit__(None, None, None)
    return result


@contextmanager
def _without_traceback(prefix: str, *errors: type[Exception]) -> Iterator[None]:
    """Fail the test with the text of an error alone: its traceback would show nothing of the test."""
    wrong = None
    try:
        yield
    except errors as error:
        wrong = f"{prefix}{error}"
    if wrong is not None:
        pytest.fail(wrong, pytrace=False)
