"""A language model of digits: what the step closures do stands in a file of its own."""

import torch
import torch_xla
from journal import Journal
from model import Digits
from trainer import Trainer


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    trainer = Trainer(Digits(width=16).to(device), Journal(every=2), device)
    trainer.run(steps=8)


if __name__ == "__main__":
    main()
