"""Lists, dicts and texts."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "how lists are made": """
        import collections
        probe.value(list())  # is: []
        probe.value(collections.deque())  # is: [unknown..]
        probe.value(tuple([1, 2]))  # is: (1, 2)
        probe.value(list(range(3)))  # is: [number item..]
        probe.value(set((t, 1)))  # is: [device tensor of 3, 1]
    """,
    "how dicts are made": """
        import collections
        probe.value(dict(a=1))  # is: {a: 1}
        probe.value(dict({"a": 1}, b=2))  # is: {a: 1, b: 2}
        probe.value(dict([("a", t)]))  # is: {a: device tensor of 3}
        probe.value(dict([(probe.key(), t)]))  # is: {device tensor of 3..}
        probe.value(dict([t]))  # is: {unknown..}
        probe.value(dict([(1, 2, 3)]))  # is: {unknown..}
        probe.value(dict(probe.other()))  # is: {unknown..}
        probe.value(collections.defaultdict(None))  # is: {}
        probe.value(collections.defaultdict(list))  # is: {[]..}
        probe.value(collections.OrderedDict())  # is: {}
    """,
    "lists that change": """
        rows = []
        rows.append(1)
        probe.value(rows)  # is: [1]
        rows.insert(0, h)
        probe.value(rows)  # is: [host tensor of 3, 1]
        rows.extend([2])
        probe.value(rows)  # is: [host tensor of 3, 1, 2]
        probe.value(rows.copy())  # is: [host tensor of 3, 1, 2]
        rows.reverse()
        rows.clear()
        probe.value(rows)  # is: []
        many = []
        for i in range(9):
            many.append(i)
        probe.value(many)  # is: [number..]
        stack = [1, 1]
        probe.value(stack.pop())  # is: 1
        probe.value(stack)  # is: [1..]
        stack.pop()
        fixed = (1,)
        probe.value(fixed.count(1))  # is: number
        probe.value(stack.other())  # is: unknown
        probe.value(stack.append())  # is: unknown
        probe.value(stack.extend())  # is: unknown
        probe.value(t.shape.numel())  # is: number
    """,
    "comparing items reads": """
        for x in loader:
            losses = [update(x)]
            losses.index(0.5)  # expect: xla-value-read
            losses.count(0.5)  # expect: xla-value-read
            losses.remove(0.5)  # expect: xla-value-read
            losses.append(losses[0] + 1)
            losses.sort()  # expect: xla-value-read
            [1, 2].index(2)
            [2, 1].sort()
    """,
    "dicts that change": """
        held = {"a": t}
        probe.value(held.get("a"))  # is: device tensor of 3
        probe.value(held.get("b"))  # is: unknown
        probe.value(held.get("b", 1))  # is: 1
        probe.value(held.setdefault("b", h))  # is: host tensor of 3
        probe.value(held.setdefault("c"))  # is: None
        probe.value(held)  # is: {a: device tensor of 3, b: host tensor of 3, c: None}
        probe.value(held.copy())  # is: {a: device tensor of 3, b: host tensor of 3, c: None}
        held.update({"a": 1}, c=2)
        probe.value(held)  # is: {a: 1, b: host tensor of 3, c: 2}
        held.update(probe.other())
        probe.value(held["other"])  # is: unknown
        held.update({probe.other(): 1})
        probe.value({}.fromkeys([1]))  # is: unknown
    """,
    "views of dicts": """
        held = {"a": t, "b": t}
        for key in held.keys():
            probe.value(key)  # is: text
        probe.value(held.values())  # is: [device tensor of 3, device tensor of 3]
        for key, value in held.items():
            probe.value(value)  # is: device tensor of 3
        held[probe.other()] = h
        probe.value(held.values())  # is: [device tensor of 3 or host tensor of 3..]
        batch = {"a": h}
        probe.value(batch.to(device))  # is: {a: device tensor of 3}
    """,
    "texts": """
        for x in loader:
            loss = update(x)
            "{}".format(loss)  # expect: xla-print-tensor
            "{a}".format(a=loss)  # expect: xla-print-tensor
            ",".join(["a"])
        probe.value("a b".split())  # is: [text..]
        probe.value("ab".startswith("a"))  # is: number
        probe.value(str(device).startswith("xla"))  # is: True fact
        probe.value("ab".upper())  # is: text
        probe.value((3).bit_length())  # is: number
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
