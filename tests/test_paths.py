"""Paths that cannot happen, or that no call in sight takes: what stands there decides nothing elsewhere."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "a total whose new part cuts the graph": """
        def part(x):
            found = model(x).mean().detach()
            torch_xla.sync()
            return found

        total = torch.zeros((), device=device)
        for x in loader:
            total = total + part(x)
            print(total.item())  # expect: xla-value-read
    """,
    "a truth or a text that a call spells out": """
        def report(loss, quiet, mode="text"):
            if quiet or mode == "none":
                return
            print(loss.item())  # expect: xla-value-read

        for x in loader:
            report(update(x), True)
        for x in loader:
            report(update(x), quiet=False, mode="none")
            report(update(x), quiet=True, mode="all")
        for x in loader:
            report(update(x), False)
    """,
    "a test of the release": """
        from packaging import version
        if version.parse(torch.__version__) >= version.parse("2.1"):
            read = torch.Tensor.detach
        else:
            read = torch.Tensor.item
        for x in loader:
            if torch.__version__ < "1.9":
                print(update(x).item())
            total = read(update(x))
            if args.version < 4:
                print(update(x).item())  # expect: xla-value-read
    """,
    "a default that no call changes": """
        def evaluate(rows, wrapped=False):
            batches = rows if wrapped else MpDeviceLoader(rows, device)
            probe.value(batches)  # is: device loader
            if wrapped:
                rows = [batch.to(device) for batch in rows]
            probe.value(rows)  # is: loader

        evaluate(DataLoader([torch.ones(4)] * 8, batch_size=2))
    """,
    "a default stays a default when it is negated and joined": """
        def choose(plain=True, other=False):
            mine = not plain
            if mine or other:
                value = h
            else:
                value = t
            probe.value(value)  # is: device tensor of 3

        choose()
    """,
    "a flag for XLA, spelled out and left alone": """
        def train(rows, where, tpu=False):
            if tpu:
                where = xm.xla_device()  # expect: xla-deprecated-api
            return where

        probe.value(train([], torch.device("cpu"), False))  # is: host named
        probe.value(train([], torch.device("cpu")))  # is: device named
    """,
    "what only a default keeps from running is still looked at": """
        def report(loss, verbose=False):
            if verbose:
                print(loss.item())  # expect: xla-value-read

        for x in loader:
            report(update(x))
    """,
    "a flag that an import sets": """
        try:
            import torch_xla.runtime as xr
            HAS_XLA = True
        except ImportError:
            xr, HAS_XLA = None, False

        for _ in range(9):
            loss = update(torch.ones(2, 4, device=device))
            if HAS_XLA:
                torch_xla.sync()
            print(loss.item())  # expect: xla-late-read
        for _ in range(9):
            loss = update(torch.ones(2, 4, device=device))
            if xr is not None:
                torch_xla.sync()
            print(loss.item())  # expect: xla-late-read
    """,
    "a flag that is set before the import": """
        from importlib.util import find_spec
        FOUND = find_spec("torch_xla") is not None
        OTHER = find_spec("apex") is not None
        AVAILABLE = False
        try:
            import torch_xla
            AVAILABLE = True
        except ModuleNotFoundError:
            pass
        probe.value(AVAILABLE)  # is: True fact
        probe.value(FOUND)  # is: True fact
        probe.value(OTHER)  # is: number
    """,
    "an import that says nothing of XLA": """
        try:
            import apex
            HAS_APEX = True
        except ImportError:
            HAS_APEX = False
        probe.value(HAS_APEX)  # is: number
    """,
    "how Accelerate runs": """
        from accelerate import Accelerator, DistributedType, PartialState
        from accelerate.utils import DistributedType as Kinds
        accelerator = Accelerator()
        probe.value(accelerator.distributed_type == DistributedType.XLA)  # is: True fact
        probe.value(accelerator.distributed_type != Kinds.TPU)  # is: False fact
        probe.value(PartialState().distributed_type == DistributedType.MULTI_GPU)  # is: False fact
        probe.value(accelerator.distributed_type in (DistributedType.NO, DistributedType.XLA))  # is: True fact
        probe.value(DistributedType.NO < DistributedType.XLA)  # is: number
    """,
    "one function, called at once or as a step closure": """
        def on_xla():
            return bool(int(os.environ["ON_XLA"]))

        def report(loss):
            print(loss.item())

        class Log:
            def __init__(self, lazy):
                self.lazy = lazy

            def write(self, loss):
                if self.lazy:
                    xm.add_step_closure(report, (loss,))
                else:
                    report(loss)

        log = Log(os.environ["LAZY"])
        for x in loader:
            loss = update(x)
            if not on_xla():
                report(loss)
            else:
                xm.add_step_closure(report, (loss,))
            log.write(loss)
    """,
    "a loop that ends at random": """
        import random
        for _ in range(9):
            model(torch.ones(2, 4, device=device))
            torch_xla.sync()
            if random.random() < 0.1:
                break
        for _ in range(9):
            if random.random() < 0.1:
                raise ValueError
            model(torch.ones(2, 4, device=device))
            torch_xla.sync()
    """,
    "a part of a step that is left out at random": """
        import random

        def maybe(x):
            if random.random() < 0.1:  # expect: xla-host-random
                return x
            return model(x)

        for _ in range(9):
            x = torch.ones(2, 4, device=device)
            for _ in range(3):
                if random.random() < 0.1:  # expect: xla-host-random
                    break
                x = model(x)
            maybe(x)
            torch_xla.sync()
    """,
    "a counter that is never advanced": """
        step = 0
        for x in loader:
            loss = update(x)
            torch_xla.sync()
            if step % 10 == 0:
                print(loss.item())  # expect: xla-late-read
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
