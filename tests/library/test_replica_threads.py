"""Replicas in threads: `torch_xla.distributed.data_parallel`."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

HEAD = """
        import torch_xla.distributed.data_parallel as dp
        from torch.utils.data import TensorDataset
        host = DataLoader([torch.ones(4)] * 8, batch_size=2, drop_last=True)
        pairs = DataLoader(TensorDataset(torch.ones(8, 4), torch.ones(8)), batch_size=2, drop_last=True)
"""
CASES = {
    "what a thread is given": """
        def run(net, batches, place, kept):
            probe.value(net)  # is: device model Sequential
            probe.value(place)  # is: device named
            adam = kept.getattr_or("optimizer", lambda: torch.optim.Adam(net.parameters()))
            for x in batches:
                probe.value(x)  # is: device tensor
                adam.zero_grad()
                net(x).mean().backward()
                xm.optimizer_step(adam)
        dp.DataParallel(model, device_ids=xm.get_xla_supported_devices())(run, host)
    """,
    "a model that its class makes": """
        def run(net, batches, place, kept):
            for n, (x, y) in enumerate(batches):
                print(net(x).mean())  # expect: xla-print-tensor
        net = dp.DataParallel(lambda: torch.nn.Linear(4, 4), device_ids=["xla:1"])
        for epoch in range(3):
            net(run, pairs)
    """,
    "a loader that counts": """
        def run(net, batches, place, kept):
            for n, (x, y) in batches:
                loss = net(x).mean()
                if n % 10 == 0:
                    print(loss.item())  # expect: xla-periodic-read
        dp.DataParallel(model)(run, pairs)
    """,
    "what else the function is given": """
        def run(net, batches, place, kept, rate=1):
            probe.value(rate)  # is: 3
            return kept.getattr_or("size", 4)
        probe.value(dp.DataParallel(model)(run, host, batchdim=1, rate=3)[0])  # is: 4
    """,
    "no devices": """
        def run(net, batches, place, kept):
            for x in batches:
                print(net(x).mean())
        dp.DataParallel(nn.Linear(4, 4), device_ids=[])(run, host)
    """,
    "a function that is not in sight": """
        from loops import run
        dp.DataParallel(model)(run, host)
        dp.DataParallel(run)(run)
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(HEAD + code)
