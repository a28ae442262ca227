"""What initialises the runtime before a launch, under tests: reported where it is sure to lead there."""

from __future__ import annotations

import textwrap

import pytest

from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

HEAD = """\
import os, sys, torch, torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_multiprocessing as xmp
from settings import args

def run(index): ...
"""
CASES = {
    "a message under a test": """
        if os.environ.get("RESUME"):
            xm.master_print("resuming")  # here
        xmp.spawn(run)
    """,
    "in a helper that may return before": """
        def log(text):
            if not args.verbose:
                return
            xm.master_print(text)  # here
        if __name__ == "__main__":
            log("start")
            xmp.spawn(run)
    """,
    "one way or the other": """
        device = xm.xla_device() if args.tpu else "cpu"  # here
        try:
            print(len(xm.get_xla_supported_devices()))  # here
        except RuntimeError:
            print("none")
        torch_xla.launch(run)
    """,
    "a test between that does not matter": """
        def main():
            for name in args.names:
                if name == "tpu":
                    torch.zeros(1, device="xla")  # here
            if args.seed:
                torch.manual_seed(args.seed)
            xmp.spawn(run)
        main()
    """,
    "tests that may exclude each other": """
        if args.single:
            run(xm.xla_device())
        if not args.single:
            xmp.spawn(run)
    """,
    "a path that ends before the launch": """
        def main():
            if args.single:
                device = xm.xla_device()
            if args.single:
                run(0)
                return
            xmp.spawn(run)
        if args.info:
            xm.master_print("info")
            sys.exit(0)
        main()
    """,
    "what is launched is chosen": """
        if args.single:
            xm.xla_device()
        def alone(function):
            function(xm.xla_device())
        launch = alone if args.single else xmp.spawn
        launch(run)
    """,
    "the number of processes is chosen": """
        if args.processes == 1:
            run(xm.xla_device())
        xmp.spawn(run, nprocs=args.processes)
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES.keys())
def test_case(code: str) -> None:
    text = HEAD + textwrap.dedent(code)
    found = check_module(parse(text, "train.py"), Project(), Settings(), {"xla-device-before-launch"})
    claimed = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]
    assert sorted(int(finding.node.lineno or 0) for finding in found) == claimed
