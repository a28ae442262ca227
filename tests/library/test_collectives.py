"""What every replica has to call."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what comes back": """
        import torch.distributed as dist
        probe.value(xm.all_reduce("sum", t))  # is: device tensor
        probe.value(xm.all_gather(t))  # is: device tensor
        probe.value(xm.all_reduce("sum", [t]))  # is: [device tensor of 3]
        probe.value(xm.reduce_scatter("sum", [t], 1.0, 0, 1))  # is: unknown
        probe.value(dist.all_reduce(t))  # is: None
        probe.value(dist.broadcast(tensor=t, src=0))  # is: None
        probe.value(dist.barrier())  # is: None
        probe.value(xm.do_on_ordinals(print))  # is: unknown
        probe.value(xm.reduce_gradients(optimizer))  # is: None
    """,
    "variables of the environment": """
        import os
        probe.value(os.getenv("RANK"))  # is: number rank
        probe.value(os.environ.get("HOME"))  # is: unknown
        probe.value(os.getenv())  # is: unknown
    """,
    "a collective that some replicas do not reach": """
        if torch_xla.runtime.global_ordinal() == 0:
            xm.all_reduce("sum", t)  # expect: xla-rank-divergence
            xm.rendezvous("here")  # expect: xla-rank-divergence
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
