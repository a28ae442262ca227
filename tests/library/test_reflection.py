"""What a program asks about its own objects."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "types": """
        from torch.distributed.fsdp import FullyShardedDataParallel
        probe.value(isinstance(t, torch.Tensor))  # is: True
        probe.value(isinstance(3, torch.Tensor))  # is: False
        probe.value(isinstance(3, (torch.Tensor, int)))  # is: number
        probe.value(isinstance(t, (int, float)))  # is: False
        probe.value(isinstance((1, 2), tuple))  # is: True
        probe.value(isinstance([1], (dict, str)))  # is: False
        probe.value(isinstance([1], (list, tuple)))  # is: True
        probe.value(isinstance({}, str))  # is: False
        probe.value(isinstance("a", str))  # is: True
        probe.value(isinstance(model, FullyShardedDataParallel))  # is: False fact
        probe.value(isinstance(probe.other(), nn.Module))  # is: number
        probe.value(hasattr(model, "weight"))  # is: number
        probe.value(type(3) is int)  # is: number
    """,
    "attributes by name": """
        class Holder:
            kept = 1
        holder = Holder()
        probe.value(getattr(holder, "kept"))  # is: 1
        probe.value(getattr(holder, "kept", 2))  # is: number
        probe.value(getattr(holder, probe.other()))  # is: unknown
        setattr(holder, "kept", t)
        probe.value(holder.kept)  # is: device tensor of 3
        setattr(holder, probe.other(), 3)
        probe.value(holder.kept)  # is: device tensor of 3
    """,
    "a model under a name that is not known may replace any": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Linear(2, 2)
        net = Net()
        setattr(net, probe.other(), nn.ReLU())
        probe.value(net.inner)  # is: host model Linear or host model ReLU
        setattr(3, probe.other(), nn.ReLU())
    """,
    "super": """
        class Base:
            def size(self):
                return 3
        class Derived(Base):
            def size(self):
                return super().size() + 1
        probe.value(Derived().size())  # is: 4
        def alone():
            return super()
        probe.value(alone())  # is: unknown
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
