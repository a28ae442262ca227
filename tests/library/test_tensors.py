"""Methods of tensors."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "a total that is kept without its history, and one that keeps it": """
        class Keeping(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
            def update(self, x, kept):
                if kept is not None:
                    kept = kept + x  # expect: xla-graph-growth
                else:
                    kept = x
                return kept
            def forward(self, x, kept=None):
                new = self.update(self.layer(x), kept.get(3, None) if kept is not None else None)
                kept = {} if kept is None else kept
                kept[3] = new
                return new, kept
        class Detaching(Keeping):
            def update(self, x, kept):
                if kept is not None:
                    kept = kept + x
                else:
                    kept = x
                return kept
            def forward(self, x, kept=None):
                new = self.update(self.layer(x), kept.get(3, None) if kept is not None else None)
                kept = {} if kept is None else kept
                kept[3] = new.detach()
                return new, kept
        keeping, detaching = Keeping().to(device), Detaching().to(device)
        kept = detached = None
        for x in loader:
            out, kept = keeping(x, kept)
            other, detached = detaching(x, detached)
            (out + other).mean().backward()
            optimizer.step()
    """,
    "pieces of a tensor, of which a number takes one": """
        probe.value(t.chunk(2)[0])  # is: device tensor
        first, second = t.hsplit(2)
        probe.value(second)  # is: device tensor
        for n, x in enumerate(loader):
            halves, parts, columns = x.split(2, dim=1), torch.tensor_split(x, 2, dim=1), x.unbind(1)
            update(torch.cat([halves[n % 2], parts[n % 2], columns[n].unsqueeze(1), x.chunk(4, dim=1)[n]], dim=1))
    """,
    "what is known without running anything": """
        probe.value(t.size())  # is: (number shape..)
        probe.value(t.size(0))  # is: 3 shape
        probe.value(t.size(dim=0))  # is: 3 shape
        probe.value(t.size(1))  # is: number shape
        probe.value(t.dim())  # is: number shape
        probe.value(t.is_same_size(h))  # is: number shape
        probe.value(t.retain_grad())  # is: None
    """,
    "what fetches": """
        for x in loader:
            loss = update(x)
            loss.item()  # expect: xla-value-read
            loss.equal(x)  # expect: xla-value-read
            loss.is_same_size(x)
            probe.value(loss.detach())  # is: device tensor
            number = loss.item()  # expect: xla-value-read
            probe.value(number)  # is: number data
            copy = loss.cpu()  # expect: xla-value-read
            probe.value(copy)  # is: host tensor
            copy.numpy()
            rows = (loss + 1).tolist()  # expect: xla-value-read
        probe.value(h.tolist())  # is: [number..]
        probe.value(torch.rand(3).sum().item())  # is: number
    """,
    "numbers drawn on the host": """
        for x in loader:
            if torch.rand(1).item() < 0.5:  # expect: xla-host-random
                x = x * 2
            update(x)
    """,
    "what may be a model is one by its use": """
        net = probe.model().to(device)
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        probe.value(net(t))  # is: device output
        def place(value):
            value = value.to(device)
            value.requires_grad_(False)
            return value
        probe.value(place(probe.other()))  # is: device output
    """,
    "arrays by force": """
        for x in loader:
            loss = update(x)
            loss.numpy(force=True)  # expect: xla-value-read
            loss.numpy(force=False)  # expect: xla-unsupported-call
    """,
    "where a tensor goes": """
        probe.value(h.to(device))  # is: device tensor of 3
        probe.value(t.to("cpu"))  # is: host tensor of 3
        probe.value(t.to(device))  # is: device tensor of 3
        probe.value(t.to(torch.float16))  # is: device tensor of 3
        probe.value(t.to(device, torch.float16))  # is: device tensor of 3
        probe.value(h.to(probe.other()))  # is: some tensor of 3
        probe.value(t.to(probe.other()))  # is: device tensor of 3
        probe.value(t.type(torch.int64))  # is: device tensor of 3
        probe.value(probe.other().to(device))  # is: device output
        probe.value(probe.other().to("cpu"))  # is: unknown
    """,
    "operations": """
        probe.value(t + 1)  # is: device tensor of 3
        probe.value(t.add_(1))  # is: device tensor of 3
        probe.value(t.new_zeros(5))  # is: device tensor of 5
        probe.value(t.new_zeros((2, 3), device="cpu"))  # is: host tensor of 2
        probe.value(t.max(dim=0))  # is: device output
        probe.value(t.max(dim=0).values)  # is: device output
        probe.value(t.eq(1))  # is: device tensor of 3
        out = probe.model().to(device)(t)
        probe.value(out)  # is: device output
        probe.value(out.keys())  # is: stream
        probe.value(out.get("logits"))  # is: device output
        for key, value in out.items():
            probe.value(value)  # is: device output
    """,
    "shapes that depend on values": """
        import torch.nn.functional as F
        for x in loader:
            update(x)
            x.nonzero()  # expect: xla-data-dependent-shape
            F.one_hot(x.long())  # expect: xla-data-dependent-shape
            F.one_hot(x.long(), 9)
            x.repeat_interleave(x.long())  # expect: xla-data-dependent-shape
            x.repeat_interleave(3)
            torch.where(x > 0)  # expect: xla-data-dependent-shape
            torch.where(x > 0, x, 0.0)
    """,
    "numbers that change with the step": """
        for step, x in enumerate(loader):
            update(x)
            x.narrow(0, 0, step)  # expect: xla-changing-shape
            x.new_zeros(step)  # expect: xla-changing-shape
            x.roll(step)  # expect: xla-changing-constant
    """,
    "host tensors that take device values": """
        rows = torch.zeros(4)
        for x in loader:
            loss = update(x)
            rows.copy_(loss)  # expect: xla-value-read
    """,
    "host tensors that add device values in place": """
        total, seen, parts = torch.tensor(0.0), torch.zeros(1), torch.zeros(2)
        there, number, plain = torch.zeros(1, device=device), 0.0, torch.zeros(1)
        for x in loader:
            total += update(x)  # expect: xla-value-read
            seen.add_(update(x))  # expect: xla-value-read
            parts[1] -= update(x)  # expect: xla-value-read
            there += update(x)
            there.add_(update(x))
            number += update(x)
            plain = plain + update(x)
            total *= 0.9
            seen.div_(2)
        probe.value(total)  # is: host tensor
        probe.value(seen.add_(t))  # is: host tensor of 1
        probe.value(plain)  # is: device tensor of 1
    """,
    "host tensors that are indexed by device values": """
        table, hits, order = torch.zeros(4, 4), torch.zeros(4), torch.arange(4)
        for x in loader:
            guess = model(x).argmax(-1)
            for mine, yours in zip(guess, guess.view(-1)):
                table[mine.long(), yours.long()] += 1  # expect: xla-value-read
            first = hits[guess[0]]  # expect: xla-value-read
            hits[guess[1]] = 1.0  # expect: xla-value-read
            hits[order[:2]] = 2.0
            rows = guess[order[:2]]
            update(x)
    """,
    "a host tensor that adds up a loss with its history": """
        total = torch.zeros(1)
        for x in loader:
            loss = model(x).mean()
            total += loss  # expect: xla-value-read, xla-graph-growth
    """,
    "a model's buffers are where the model is": """
        class Counting(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 4)
                self.register_buffer("seen", torch.zeros(1))

            def forward(self, x):
                out = self.net(x)
                self.seen += out.detach().mean()
                total = torch.zeros_like(out)
                total += out
                return total

        counting = Counting().to(device)
        for x in loader:
            counting(x).mean().backward()
    """,
    "random numbers drawn on the host": """
        keep = torch.rand(1)
        probe.value(keep.item())  # is: number random
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
