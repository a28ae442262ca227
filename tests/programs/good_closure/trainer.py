import torch
import torch_xla
from torch.nn import functional


class Trainer:
    def __init__(self, model, journal, device):
        self.model = model
        self.journal = journal
        self.device = device
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def run(self, steps):
        for step in range(steps):
            digits = torch.randint(0, 10, (8, 12), device=self.device)
            self.optimizer.zero_grad()
            logits = self.model(digits[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), digits[:, 1:].flatten())
            loss.backward()
            self.optimizer.step()
            self.journal.note(step, loss.detach())
            torch_xla.sync()
