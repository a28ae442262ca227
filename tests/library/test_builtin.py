"""Functions that Python offers without an import."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "conversions read a tensor": """
        for x in loader:
            loss = update(x)
            float(loss)  # expect: xla-value-read
            int(loss)  # expect: xla-value-read
            bool(loss)  # expect: xla-value-read
            complex(loss)  # expect: xla-value-read
            probe.value(float(h.sum()))  # is: number
            number = float(loss)  # expect: xla-value-read
            probe.value(number)  # is: number data
    """,
    "conversions of numbers": """
        probe.value(int(3.7))  # is: 3
        probe.value(int(float("inf")))  # is: number
        probe.value(float(2))  # is: 2
        probe.value(bool(2))  # is: number
        probe.value(int())  # is: number
        probe.value(int("3"))  # is: number
        probe.value(round(2.5))  # is: 2.5
    """,
    "texts": """
        for x in loader:
            loss = update(x)
            str(loss)  # expect: xla-print-tensor
            probe.value(str(3))  # is: text
            probe.value(str())  # is: text
        probe.value(str(device))  # is: 'xla:0'
        probe.value(str(torch.device("cpu")))  # is: 'cpu'
    """,
    "comparing in Python reads": """
        for x in loader:
            loss = update(x)
            max(loss, 1.0)  # expect: xla-value-read
            min([loss, loss], key=lambda item: item)  # expect: xla-value-read
            sorted([loss, loss + 1])  # expect: xla-value-read
            max([loss])
            torch.max(loss, loss)
    """,
    "comparing numbers": """
        probe.value(max(1, 2))  # is: number
        probe.value(min([3, 3]))  # is: 3
        probe.value(sorted([2, 1]))  # is: [number..]
        probe.value(max([4], key=abs))  # is: 4
    """,
    "arithmetic stays on the device": """
        for x in loader:
            loss = update(x)
            probe.value(abs(loss))  # is: device tensor
            probe.value(sum([loss, loss]))  # is: device tensor
            probe.value(pow(loss, 2))  # is: device tensor
        probe.value(abs(-3))  # is: number
        probe.value(sum([1, 2]))  # is: number
        probe.value(sum([]))  # is: unknown
        probe.value(abs(print))  # is: unknown
        probe.value(divmod(7, 2))  # is: (3, 1)
    """,
    "any and all ask for the truth": """
        for x in loader:
            loss = update(x)
            any([loss, loss])  # expect: xla-value-read
            all([loss > 1])  # expect: xla-value-read
            if all([True, False]):
                pass
        probe.value(any([1, 0]))  # is: number
        probe.value(all([torch.cuda.is_available()]))  # is: False fact
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
