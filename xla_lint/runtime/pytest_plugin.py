"""pytest: a budget on what a test may compile.

The marker `xla_compile_budget(1, after=2)` puts one on a whole test; the fixture `xla_compile_budget` gives
`assert_max_compiles`, to put one on a part: `with xla_compile_budget(1): ...`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from xla_lint.runtime.counter import assert_max_compiles
from xla_lint.runtime.counts import RuntimeMissingError

if TYPE_CHECKING:
    from collections.abc import Generator

MARKER = "xla_compile_budget"


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(limit, after=0): fail the test if it compiles more than `limit` XLA graphs after its first "
        "`after` steps",
    )


@pytest.fixture
def xla_compile_budget() -> type[assert_max_compiles]:
    """`assert_max_compiles`, to put a budget on a part of a test; skips the test without torch_xla."""
    pytest.importorskip("torch_xla")
    return assert_max_compiles


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Run a marked test within its budget."""
    marker = pyfuncitem.get_closest_marker(MARKER)
    if marker is None:
        return (yield)
    try:
        budget = assert_max_compiles(*marker.args, **marker.kwargs)
    except (TypeError, ValueError) as error:
        pytest.fail(f"marker {MARKER}: {error}", pytrace=False)
    try:
        budget.__enter__()
    except RuntimeMissingError as error:
        pytest.fail(str(error), pytrace=False)
    try:
        result = yield
    except BaseException as error:
        budget.__exit__(type(error), error, error.__traceback__)
        raise
    budget.__exit__(None, None, None)
    return result
