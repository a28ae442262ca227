"""Replicas are started, and join others."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what a replica is given": """
        import torch_xla.distributed.xla_multiprocessing as xmp
        def run(index, size):
            probe.value(index)  # is: number rank
            probe.value(size)  # is: 3
        def alone(index, *rest):
            probe.value(rest)  # is: ()
        if __name__ == "__main__":
            torch_xla.launch(run, args=(3,), debug_single_process=True)
            torch_xla.launch(alone, debug_single_process=True)
        probe.value(xmp.MpModelWrapper(model))  # is: device model Sequential
    """,
    "a process that has met others over XLA": """
        import torch.distributed as dist
        dist.init_process_group("xla", init_method="xla://")
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()  # expect: xla-unreduced-gradients
    """,
    "a process that means to meet others over XLA, by a backend that is chosen elsewhere": """
        import torch.distributed as dist
        import torch_xla.distributed.xla_backend
        from settings import args
        dist.init_process_group(args.backend)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()  # expect: xla-unreduced-gradients
    """,
    "a backend that is chosen elsewhere": """
        import torch.distributed as dist
        from settings import args
        dist.init_process_group(args.backend)
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
    """,
    "a process that has met others in another way": """
        import torch.distributed as dist
        dist.init_process_group("gloo")
        for x in loader:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
