"""The Accelerator, and what it makes of the rest."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what it prepares": """
        from accelerate import Accelerator, skip_first_batches
        accelerator = Accelerator()
        net = nn.Linear(4, 4)
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(sgd, 1)
        rows = DataLoader([h])
        net, sgd, rows, schedule = accelerator.prepare(net, sgd, rows, schedule)
        probe.value(net)  # is: device model Linear
        probe.value(sgd)  # is: SGD
        probe.value(rows)  # is: device loader
        probe.value(schedule)  # is: StepLR
        probe.value(accelerator.prepare(rows))  # is: device loader
        probe.value(accelerator.prepare(3))  # is: 3
        probe.value(accelerator.prepare(*probe.other()))  # is: (unknown..)
        probe.value(accelerator.prepare_model(nn.Linear(2, 2) if probe.other() else 3))  # is: 3 or device model Linear
        probe.value(accelerator.prepare(nn.ReLU(), device_placement=[False]))  # is: host model ReLU
        probe.value(skip_first_batches(rows, 3))  # is: device loader
        probe.value(accelerator.skip_first_batches(rows, 3))  # is: device loader
        probe.value(accelerator.unwrap_model(net))  # is: device model Linear
    """,
    "without placement a model stays": """
        from accelerate import Accelerator
        accelerator = Accelerator(device_placement=False)
        probe.value(accelerator.prepare(nn.ReLU()))  # is: host model ReLU
        probe.value(accelerator.device)  # is: device named
        probe.value(accelerator.is_main_process)  # is: number rank
    """,
    "what it does in a step": """
        from accelerate import Accelerator
        accelerator = Accelerator()
        net = nn.Linear(4, 4)
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        net, sgd, rows = accelerator.prepare(net, sgd, DataLoader([h]))
        for x in rows:
            with accelerator.accumulate(net):
                loss = net(x).mean()
                accelerator.backward(loss)
                norm = accelerator.clip_grad_norm_(net.parameters(), 1.0)
                probe.value(norm)  # is: device tensor
                sgd.step()
                sgd.zero_grad()
                accelerator.print(loss)  # expect: xla-print-tensor
        probe.value(accelerator.wait_for_everyone())  # is: None
        probe.value(accelerator.gather(t))  # is: device tensor of 3
        probe.value(accelerator.gather_for_metrics((t, 3)))  # is: (device tensor of 3, 3)
        probe.value(accelerator.pad_across_processes(t))  # is: device tensor of 3
        probe.value(accelerator.other())  # is: unknown
    """,
    "values are clipped before the step reduces them": """
        from accelerate import Accelerator
        accelerator = Accelerator()
        net = nn.Linear(4, 4)
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        net, sgd, rows = accelerator.prepare(net, sgd, DataLoader([h]))
        for x in rows:
            accelerator.backward(net(x).mean())
            accelerator.clip_grad_value_(net.parameters(), 1.0)  # expect: xla-clip-before-reduce
            sgd.step()
            sgd.zero_grad()
    """,
    "an optimizer of the project": """
        from accelerate import Accelerator
        class Careful(torch.optim.Optimizer):
            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        if p.grad.norm() > 1:  # expect: xla-tensor-branch
                            continue
                        p.data.add_(p.grad, alpha=-0.1)
        accelerator = Accelerator()
        net = nn.Linear(4, 4)
        net, careful, rows = accelerator.prepare(net, Careful(net.parameters(), {"lr": 1}), DataLoader([h]))
        for x in rows:
            accelerator.backward(net(x).mean())
            careful.step()
            careful.zero_grad()
    """,
    "a loader that is prepared only where there is one": """
        import os
        from accelerate import Accelerator
        accelerator = Accelerator()
        rows = DataLoader([h] * 9, batch_size=2, drop_last=True) if os.environ.get("TEST") else None
        if rows:
            rows = accelerator.prepare(rows)
        probe.value(t)  # is: device tensor of 3
    """,
    "waiting for all processes is a rendezvous": """
        from accelerate import Accelerator
        from accelerate.utils import wait_for_everyone
        class Tracker:
            def __init__(self, accelerator):
                self.accelerator = accelerator
            def track(self):
                self.accelerator.wait_for_everyone()  # expect: xla-costly-collective
        tracker = Tracker(Accelerator())
        for i, x in enumerate(loader):
            update(x)
            tracker.track()
            wait_for_everyone()  # expect: xla-costly-collective
            if i % 100 == 0:
                tracker.accelerator.wait_for_everyone()
        tracker.accelerator.wait_for_everyone()
    """,
    "a model and its optimizer are prepared apart": """
        from accelerate import Accelerator
        accelerator = Accelerator()
        net = nn.Linear(4, 4)
        sgd = torch.optim.SGD(net.parameters(), lr=0.1)
        sgd = accelerator.prepare(sgd)
        net = accelerator.prepare(net)  # expect: xla-accelerate-split-prepare
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
