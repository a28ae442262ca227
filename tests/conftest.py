"""Fixtures for the tests of the doors."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import stand_in
from tests.doors import pylint
from xla_lint import engine
from xla_lint.cli.main import main

settings.register_profile(
    "suite",
    derandomize=True,
    database=None,
    max_examples=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),  # some of them measure time
)
settings.register_profile("long", settings.get_profile("suite"), derandomize=False, max_examples=3000, print_blob=True)
settings.load_profile("suite")

collect_ignore = [] if find_spec("torch_xla") else ["proof", "runtime"]
"""Without torch_xla these tests cannot run; tox brings it to them."""

Door = Callable[..., list[tuple[int, str]]]
"""Takes a path and options; gives the line and symbol of each finding."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the results of a test from all other tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[stand_in.Call]:
    """Put the stand-in in the engine's place; the value lists what the engine was asked."""
    monkeypatch.setattr(engine, "examine", stand_in.examine)
    monkeypatch.setattr(stand_in, "CALLS", [])
    return stand_in.CALLS


@pytest.fixture(params=["pylint", "command"])
def door(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Door:
    """Both doors, one after the other."""

    def by_pylint(path: Path, *options: str) -> list[tuple[int, str]]:
        return [(message.line, message.symbol) for message in pylint(path, *options)]

    def by_command(path: Path, *options: str) -> list[tuple[int, str]]:
        main(["check", str(path), "--format=json", *options])
        return [(finding["line"], finding["symbol"]) for finding in json.loads(capsys.readouterr().out)["findings"]]

    return by_pylint if request.param == "pylint" else by_command
