"""What a program takes from one of several files, or does for one of several settings, is followed on each path."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import argparse
import torch
import torch_xla
import torch_xla.distributed.xla_multiprocessing as xmp
from torch import nn

"""
MEAN = """
    class Loss:
        def __init__(self, weight=1):
            self.weight = weight

        def __call__(self, out):
            return out[out > 0].mean() * self.weight  # expect: xla-data-dependent-shape
    """
WORST = """
    class Loss:
        def __init__(self, weight=1):
            self.weight = weight

        def __call__(self, out):
            worst = out.max().item()  # expect: xla-value-read
            return (out / worst).mean() * self.weight

    class Heavy(Loss):
        pass
    """
TRAIN = """
        criterion = build(4)
        model = nn.Linear(4, 1).to(torch_xla.device())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(100):
            optimizer.zero_grad()
            loss = criterion(model(torch.ones(2, 4, device=torch_xla.device())))
            loss.backward()
            optimizer.step()
            torch_xla.sync()
    """
CONFIG = """
    class Settings(dict):
        def __getattr__(self, name):
            return self[name]

        def __setattr__(self, name, value):
            self[name] = value

    cfg = Settings()
    cfg.device = "cuda"
    cfg.replicas = 8

    def on_xla():
        return cfg.device == "xla"

    def from_command_line():
        parser = argparse.ArgumentParser()
        parser.add_argument("options", nargs=argparse.REMAINDER)
        options = parser.parse_args().options
        for key, value in zip(options[0::2], options[1::2]):
            cfg[key] = value
        return cfg
    """
PROGRAMS = {
    "a class by one name from either of two files": {
        "main.py": """
    def main(kind):
        if kind == "mean":
            from mean import Loss
        else:
            from worst import Loss
        build = Loss
    """
        + TRAIN
        + """
    main(argparse.ArgumentParser().parse_args().kind)
    """,
        "mean.py": MEAN,
        "worst.py": WORST,
    },
    "classes under other names, one of three paths": {
        "main.py": """
    def main(kind):
        if kind == "mean":
            from mean import Loss as build
        elif kind == "worst":
            from worst import Loss as build
        else:
            from worst import Heavy as build
    """
        + TRAIN
        + """
    main(argparse.ArgumentParser().parse_args().kind)
    """,
        "mean.py": MEAN,
        "worst.py": WORST,
    },
    "modules by one name": {
        "main.py": """
    def main(kind):
        if kind == "mean":
            import mean as losses
        else:
            import worst as losses
        build = losses.Loss
    """
        + TRAIN
        + """
    main(argparse.ArgumentParser().parse_args().kind)
    """,
        "mean.py": MEAN,
        "worst.py": WORST,
    },
    "at a module's top level, or None where it is not there": {
        "main.py": """
    try:
        from mean import Loss
    except ImportError:
        Loss = None

    def main(build):
    """
        + TRAIN
        + """
    main(Loss)
    """,
        "mean.py": MEAN,
    },
    "a setting that names another device than the test asks for": {
        "main.py": """
    import config

    def worker(index):
        print(index)

    if __name__ == "__main__":
        config.cfg = config.from_command_line()
        if config.on_xla():
            xmp.spawn(worker, args=(), nprocs=config.cfg.replicas)  # expect: xla-launch-arguments
        else:
            torch.multiprocessing.spawn(worker, args=(), nprocs=8)
    """,
        "config.py": CONFIG,
    },
    "a setting on an object of its own class": {
        "main.py": """
    from config import Run

    run = Run(device="cpu")

    def worker(index):
        print(index)

    if __name__ == "__main__":
        if run.is_on("xla"):
            torch_xla.launch(lambda index: None)  # expect: xla-launch-arguments
    """,
        "config.py": """
    from dataclasses import dataclass

    @dataclass
    class Run:
        device: str = "cuda"

        def is_on(self, kind):
            return self.device == kind
    """,
    },
    "a setting that names the device of the program": {
        "main.py": """
    import config

    config.cfg.device = "xla"
    model = nn.Linear(4, 1).to(torch_xla.device())
    if config.cfg.device == "cuda":
        torch.cuda.synchronize()
    """,
        "config.py": CONFIG,
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS)
def test_findings_in_all_files(files: dict[str, str], tmp_path: Path) -> None:
    texts = {name: HEAD + textwrap.dedent(text) for name, text in files.items()}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name, text in texts.items():
        found = check_module(parse(text, tmp_path / name), Project(tmp_path), Settings())
        assert {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in found} == expected(text)
