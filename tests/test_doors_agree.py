"""With the real engine, pylint and the command report the same findings in every fixture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors import pylint
from xla_lint.cli.main import main

FIXTURES = Path(__file__).parent / "fixtures"


def test_both_doors_report_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    paths = sorted(FIXTURES.glob("*/*.py"))
    by_pylint = sorted(
        (message.abspath, message.line, message.symbol, message.msg, message.confidence.name)
        for message in pylint(*paths)
    )
    main(["check", *map(str, paths), "--format=json", "--enable=all"])
    by_command = sorted(
        (found["path"], found["line"], found["symbol"], found["message"], found["confidence"])
        for found in json.loads(capsys.readouterr().out)["findings"]
    )
    assert by_command == by_pylint
    assert by_pylint
