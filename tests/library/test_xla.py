"""Devices, barriers, regions and ranks of torch_xla."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "devices": """
        probe.value(torch_xla.device())  # is: device named
        probe.value(torch_xla.devices())  # is: [device named..]
        probe.value(torch_xla.device_count())  # is: number
        probe.value(torch_xla.runtime.world_size())  # is: number
        probe.value(torch_xla.runtime.global_ordinal())  # is: number rank
        probe.value(xm.is_master_ordinal())  # is: number rank
        probe.value(torch_xla.runtime.use_spmd())  # is: unknown
    """,
    "barriers": """
        for x in [t, t]:
            loss = update(x)
            torch_xla.sync()
            loss.item()  # expect: xla-late-read
        for x in [t, t]:
            loss = update(x)
            xm.rendezvous("here")  # expect: xla-costly-collective
            loss.item()  # expect: xla-late-read
    """,
    "optimizer_step cuts only if asked": """
        for x in [t, t]:
            loss = model(x).mean()
            loss.backward()
            xm.optimizer_step(optimizer, barrier=True)
            optimizer.zero_grad()
            loss.item()  # expect: xla-late-read
        for x in [t, t]:
            loss = model(x).mean()
            loss.backward()
            xm.optimizer_step(optimizer, barrier=probe.other())
            optimizer.zero_grad()
    """,
    "without a barrier the graph grows": """
        for x in [t, t]:  # expect: xla-missing-sync
            model(x).mean().backward()
            xm.optimizer_step(optimizer)
            optimizer.zero_grad()
    """,
    "regions": """
        import torch_xla.debug.profiler as xp
        for x in [t, t]:
            with torch_xla.step():
                loss = update(x)
            loss.item()  # expect: xla-late-read
        for x in [t, t]:
            with xp.StepTrace("step"):
                loss = update(x)
            loss.item()  # expect: xla-late-read
        for x in [t, t]:  # expect: xla-missing-sync
            with xp.Trace("part"):
                loss = update(x)
            loss.item()  # expect: xla-value-read
    """,
    "compiled functions": """
        @torch_xla.compile(full_graph=True)
        def step(x):
            return update(x)
        fast = torch_xla.compile(update)
        for x in [t, t]:
            loss = step(x)
            loss.item()  # expect: xla-late-read
            loss = fast(x)
            loss.item()  # expect: xla-late-read
        probe.value(torch_xla.compile(model))  # is: device model compile
        probe.value(torch_xla.compile(3))  # is: 3
        class Trainer:
            def step(self, x):
                return x * 2
        probe.value(torch_xla.compile(Trainer().step)(t))  # is: device tensor of 3
        probe.value(torch_xla.compile(full_graph=True)(3))  # is: unknown
    """,
    "values that come to the host": """
        for x in loader:
            loss = update(x)
            xm._maybe_convert_to_cpu(loss)  # expect: xla-value-read
        for x in loader:
            xm.master_print(update(x))  # expect: xla-rank-read
        probe.value(xm.send_cpu_data_to_device(h, device))  # is: device output
        probe.value(xm.mesh_reduce("loss", 1.0, sum))  # is: number
        probe.value(xm.wait_device_ops())  # is: None
    """,
    "wrappers": """
        from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel
        from torch_xla.utils.checkpoint import checkpoint
        probe.value(XlaFullyShardedDataParallel(model))  # is: device model Sequential
        probe.value(XlaFullyShardedDataParallel())  # is: unknown
        probe.value(checkpoint(lambda x: x * 2, t))  # is: device tensor of 3
        probe.value(checkpoint())  # is: unknown
        tracker = xm.RateTracker()
        probe.value(tracker.rate())  # is: number
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
