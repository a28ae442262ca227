"""Functions made of other functions."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "partial": """
        import functools
        def add(x, y, z=1):
            return x + y
        probe.value(functools.partial(add, t)(1))  # is: device tensor of 3
        probe.value(functools.partial(add, y=1)(h))  # is: host tensor of 3
        probe.value(functools.partial(torch.add, t)(1))  # is: device tensor of 3
        probe.value(functools.partial(t.mul)(2))  # is: device tensor of 3
        probe.value(functools.partial(add, *probe.other()))  # is: function add
        probe.value(functools.partial(probe.other()))  # is: unknown
        probe.value(functools.partial(3))  # is: unknown
        probe.value(functools.partial())  # is: unknown
        either = functools.partial(add if probe.other() else torch.mul, t)
        probe.value(either(2))  # is: device tensor of 3
        held = functools.partial(torch.add, t)
        probe.value(held.func)  # is: Method
        probe.value(held.other())  # is: unknown
    """,
    "functions by the type of an argument": """
        import functools
        @functools.singledispatch
        def show(value):
            return 1
        @show.register(int)
        def _(value):
            return 2
        @show.register
        def _(value: torch.Tensor):
            return value
        probe.value(show(t))  # is: device tensor of 3
        probe.value(show(3))  # is: unknown
    """,
    "decorators that change nothing": """
        import functools
        def shout(f):
            @functools.wraps(f)
            def inner(*args):
                return f(*args)
            return inner
        @functools.lru_cache(maxsize=None)
        def size(x):
            return x
        @shout
        def same(x):
            return x
        probe.value(same(t))  # is: device tensor of 3
        probe.value(size(3))  # is: 3
        probe.value(functools.wraps(size)(size))  # is: function size
        probe.value(functools.lru_cache(None)())  # is: unknown
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
