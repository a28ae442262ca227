"""Objects with fields."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "copies": """
        import copy
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Linear(2, 2)
        net = Net()
        twin = copy.deepcopy(net)
        twin.to(device)
        probe.value(twin.inner)  # is: device model Linear
        probe.value(net.inner)  # is: host model Linear
        alias = copy.copy(net)
        alias.inner.to(device)
        probe.value(net.inner)  # is: device model Linear
        probe.value(copy.copy(t))  # is: device tensor of 3
        probe.value(copy.copy())  # is: unknown
    """,
    "named tuples": """
        import collections
        Row = collections.namedtuple("Row", "x y")
        Other = collections.namedtuple("Other", ["x", "y"])
        probe.value(Row(t, 1).x)  # is: device tensor of 3
        probe.value(Other(t, y=2).y)  # is: 2
    """,
    "namespaces": """
        import argparse, types
        probe.value(types.SimpleNamespace(size=3).size)  # is: 3
        probe.value(argparse.Namespace(**probe.other()))  # is: Namespace
    """,
    "data classes": """
        import dataclasses
        from dataclasses import dataclass, field, replace
        @dataclass
        class Row:
            x: object
            count: int = field(default=2)
            rows: list = field(default_factory=list)
        row = Row(t)
        probe.value(row.x)  # is: device tensor of 3
        probe.value(row.count)  # is: 2
        probe.value(row.rows)  # is: []
        probe.value(replace(row, x=h).x)  # is: host tensor of 3
        probe.value(replace(row, x=h).count)  # is: 2
        probe.value(replace(probe.other(), x=h))  # is: unknown
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
