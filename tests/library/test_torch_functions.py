"""Functions of torch."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "factories": """
        probe.value(torch.zeros(3, device=device))  # is: device tensor of 3
        probe.value(torch.zeros(size=(5, 2)))  # is: host tensor of 5
        probe.value(torch.arange(6))  # is: host tensor of 6
        probe.value(torch.arange(2, 6))  # is: host tensor of 4
        probe.value(torch.arange(0, 6, 2))  # is: host tensor
        probe.value(torch.linspace(0, 1, 7))  # is: host tensor of 7
        probe.value(torch.randint(0, 9, (4,)))  # is: host tensor of 4
        probe.value(torch.full((2,), 3.0))  # is: host tensor of 2
        probe.value(torch.tensor([1, 2], device=device))  # is: device tensor of 2
        probe.value(torch.as_tensor(t))  # is: device tensor of 3
        probe.value(torch.as_tensor(t, device="cpu"))  # is: host tensor of 3
        probe.value(torch.from_numpy(probe.other()))  # is: host tensor
        probe.value(torch.ones_like(t))  # is: device tensor of 3
        probe.value(torch.ones_like(probe.other()))  # is: unknown
        probe.value(torch.ones_like(probe.other(), device=device))  # is: device tensor
        probe.value(torch.zeros_like(t if probe.other() else None))  # is: device tensor of 3
        probe.value(torch.Tensor([1]))  # is: host tensor
        probe.value(torch.FloatTensor(3))  # is: host tensor
    """,
    "factories that read": """
        for x in loader:
            loss = update(x)
            torch.tensor([loss])  # expect: xla-value-read
            torch.ones(loss.long(), device=device)  # expect: xla-value-read
            torch.full((2,), 1.0, device=device)
    """,
    "operations": """
        import torch.nn.functional as F
        probe.value(torch.add(t, 1))  # is: device tensor of 3
        probe.value(torch.relu(input=t))  # is: device tensor of 3
        probe.value(F.softmax(t, -1))  # is: device tensor of 3
        probe.value(torch.linalg.norm(t))  # is: device tensor
        probe.value(torch.chunk(t, 2))  # is: (device tensor..)
        probe.value(torch.where(t > 0, t, t))  # is: device tensor of 3
        probe.value(torch.cat([t, t]))  # is: device tensor of 6
        probe.value(torch.cat([t, t], dim=1))  # is: device tensor of 3
        probe.value(torch.stack([t, t]))  # is: device tensor of 2
        probe.value(torch.stack([t, t], 1))  # is: device tensor of 3
        probe.value(torch.stack(probe.other()))  # is: unknown
        probe.value(torch.numel(t))  # is: number
        probe.value(torch.is_same_size(t, h))  # is: number
        probe.value(torch.add(probe.other(), 1))  # is: unknown
        probe.value(torch.Tensor.add(t, 1))  # is: device tensor of 3
        probe.value(torch.is_tensor(t))  # is: number
    """,
    "functions that compare or differentiate": """
        for x in loader:
            loss = update(x)
            torch.equal(loss, x)  # expect: xla-value-read
            torch.is_nonzero(loss)  # expect: xla-value-read
            torch.is_same_size(loss, x)
        probe.value(torch.autograd.grad(model(t).sum(), model.parameters()))  # is: (device tensor..)
        probe.value(torch.autograd.backward(model(t).sum()))  # is: None
    """,
    "what an XLA machine lacks": """
        probe.value(torch.cuda.is_available())  # is: False fact
        probe.value(torch.cuda.device_count())  # is: 0 fact
        probe.value(torch.load("model.pt"))  # is: unknown
        probe.value(torch.manual_seed(3))  # is: unknown
        probe.value(torch.utils.data.get_worker_info())  # is: unknown
        probe.value(torch.Generator())  # is: Generator
        probe.value(torch.hub.load("a", "b"))  # is: unknown
    """,
    "compiled functions": """
        probe.value(torch.compile(update))  # is: function update
        probe.value(torch.compile(model))  # is: device model Sequential
        probe.value(torch.compile(model, backend="openxla"))  # is: device model compile
        @torch.compile(backend="openxla")
        def step(x):
            return x * 2
        probe.value(step(t))  # is: device tensor of 3
        def evaluate(x):
            return model(x).mean()
        fast = torch.compile(evaluate, backend="openxla")
        for x in [t, t]:
            loss = fast(x)
            loss.item()  # expect: xla-late-read
    """,
    "a tensor that grows in every step": """
        seen = torch.zeros(0, 4, device=device)
        for x in loader:
            update(x)
            seen = torch.cat([seen, x])  # expect: xla-growing-tensor
    """,
    "a tensor whose rows are taken anew": """
        seen = torch.zeros(3, 4, device=device)
        for x in loader:
            update(x)
            seen = torch.cat([seen[t.long().argmax(0)], x])  # expect: xla-growing-tensor
        kept = torch.zeros(3, 4, device=device)
        for x in loader:
            update(x)
            kept = torch.cat([kept.index_select(0, t.argmax(0)), x])  # expect: xla-growing-tensor
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
