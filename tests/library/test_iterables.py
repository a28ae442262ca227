"""What Python iterates."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "lengths are known": """
        probe.value(len(t))  # is: 3 shape
        probe.value(len([1, 2]))  # is: 2 shape
        probe.value(len("abc"))  # is: 3
        probe.value(len(range(3)))  # is: number shape
        probe.value(len(loader))  # is: number shape
        probe.value(len(DataLoader([1, 2])))  # is: number
        class Rows:
            def __len__(self):
                return 7
        class Odd:
            def __len__(self):
                return probe.other()
        probe.value(len(Rows()))  # is: 7
        probe.value(len(Odd()))  # is: number
    """,
    "a range asks for its bounds": """
        for x in loader:
            count = update(x).long()
            range(count)  # expect: xla-value-read
            range(2, count)  # expect: xla-value-read
        for i in range(2, 6):
            probe.value(i)  # is: number
        for i in range(torch_xla.runtime.global_ordinal(), 8):
            probe.value(i)  # is: number rank
    """,
    "items side by side": """
        for i, (x, y) in enumerate(zip([t, t], [h, h])):
            probe.value(i)  # is: number
            probe.value(x)  # is: device tensor of 3
            probe.value(y)  # is: host tensor of 3
        for pair in zip(*probe.other()):
            probe.value(pair)  # is: unknown
    """,
    "the same items in another way": """
        import itertools
        for x in itertools.islice(iter([t]), 1):
            probe.value(x)  # is: device tensor of 3
        for x in itertools.cycle([t]):
            probe.value(x)  # is: device tensor of 3
            break
        for x in reversed([h]):
            probe.value(x)  # is: host tensor of 3
        for x in itertools.chain([t], [t]):
            probe.value(x)  # is: device tensor of 3
        for number, x in zip(itertools.count(), [t]):
            probe.value(number)  # is: number
        probe.value(iter())  # is: unknown
        probe.value(next())  # is: unknown
        probe.value(map(abs))  # is: unknown
    """,
    "the next batch of a device loader cuts the graph": """
        batches = iter(loader)
        for step in range(90):
            loss = update(next(batches))
            probe.value(next(iter([h])))  # is: host tensor of 3
    """,
    "functions applied to items": """
        for x in map(lambda row: row * 2, [t]):
            probe.value(x)  # is: device tensor of 3
        for x in loader:
            losses = [update(x)]
            list(filter(lambda loss: loss > 0, losses))  # expect: xla-tensor-branch
            kept = list(filter(None, losses))  # expect: xla-tensor-branch
            probe.value(kept)  # is: [device tensor..]
    """,
    "methods of iterators": """
        def numbers():
            yield 1
        probe.value(numbers().__next__())  # is: 1
        probe.value(iter([t]).__length_hint__())  # is: unknown
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
