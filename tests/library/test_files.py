"""Names of files."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "names of files": """
        import glob, os
        probe.value(glob.glob("*.csv"))  # is: [text..]
        probe.value(sorted(os.listdir("rows")))  # is: [text..]
        for name in glob.iglob("*.csv"):
            probe.value(name)  # is: text
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
