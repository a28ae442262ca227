"""Objects that hold what a program puts on them."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "namespaces": """
        from types import SimpleNamespace
        settings = SimpleNamespace(rate=0.1)
        settings.device = device
        probe.value(settings.rate)  # is: 0.1
        probe.value(settings.device)  # is: device named
        probe.value(settings.unset)  # is: unknown
    """,
    "parsers": """
        import argparse
        parser = argparse.ArgumentParser()
        given = argparse.Namespace(rate=0.1)
        probe.value(parser)  # is: ArgumentParser
        probe.value(parser.parse_args())  # is: Namespace
        probe.value(parser.parse_args([], namespace=given).rate)  # is: 0.1
        probe.value(parser.parse_known_args())  # is: (Namespace, [text..])
    """,
    "configurations": """
        from omegaconf import OmegaConf
        config = OmegaConf.merge(OmegaConf.create({"a": 1}), {"b": 2}, OmegaConf.load("c.yaml"))
        config.update({"c": 3})
        config["d"] = 4
        OmegaConf.update(config, "e", 5)
        OmegaConf.set_struct(config, True)
        probe.value(config)  # is: DictConfig
        probe.value(config.a + config.b)  # is: 3
        probe.value(config["c"])  # is: 3
        probe.value(config.get("d"))  # is: 4
        probe.value(config.copy().e)  # is: 5
        probe.value(config.f)  # is: unknown
        probe.value(config.items())  # is: unknown
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
