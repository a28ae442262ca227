"""Tests that ask for a device's name, and flags that are defined by one, decide which branch runs on the device."""

from __future__ import annotations

import textwrap

import astroid
import pytest

from tests.library.cases import verify
from xla_lint.program.syntax.device_tests import asks_for_device, holds_on_device_alone

TESTS = {
    '"xla" in str(device)': True,
    'device.type == "xla"': True,
    '"xla" == device.type': None,
    'str(self.device).startswith("xla:")': True,
    '"xla" in str(device).lower()': True,
    'device.type != "xla"': False,
    'not "xla" in str(device)': False,
    '"xla" not in str(device)': False,
    '"cuda" in str(device)': None,
    '"xla" in names': None,
    'kind == "xla"': None,
    'text.startswith("xla")': None,
}


@pytest.mark.parametrize(("test", "answer"), TESTS.items(), ids=TESTS)
def test_what_asks_for_the_device(test: str, answer: bool | None) -> None:
    assert asks_for_device(astroid.extract_node(test)) is answer


def test_what_must_hold_besides() -> None:
    for value in ('USE and "xla" in str(device)', 'bool(device.type == "xla")'):
        assert holds_on_device_alone(astroid.extract_node(value))
    assert not holds_on_device_alone(astroid.extract_node('USE or device.type == "xla"'))


EVALUATION = """
class Evaluation:
    def __init__(self, model, device="cpu"):
        self.model, self.device = model, device
        self.on_xla = {flag}

    def run(self, batches):
        total = 0
        for batch in batches:
            loss = self.model(**batch).loss
            loss.backward()
            if {test}:
                xm.mark_step()  # expect: xla-deprecated-api
            total += loss.item() if not ({test}) else 0
        return total
"""
OTHER = """
    def report(self, batches):
        for batch in batches:
            loss = self.model(**batch).loss
            loss.backward()
            if {test}:
                print(loss.item())  # expect: xla-value-read
"""


@pytest.mark.parametrize(
    ("flag", "test"),
    [
        ('"xla" in str(device)', "self.on_xla"),
        ('True and str(device).startswith("xla")', "self.on_xla"),
        ("None", 'self.device.type == "xla"'),
        ("None", '"xla" in str(self.device)'),
    ],
)
def test_the_other_branch_is_for_other_devices(flag: str, test: str) -> None:
    verify(textwrap.dedent(EVALUATION + OTHER).format(flag=flag, test=test))
