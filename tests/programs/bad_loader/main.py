"""A classifier of flowers: whether the loop has a barrier is decided where the loader is made."""

import torch
import torch_xla
from loop import evaluate, train
from network import build
from pipeline import Pipeline


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    pipeline = Pipeline(device, batch_size=8)
    model = build(pipeline.features, pipeline.kinds).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(2):
        train(model, optimizer, pipeline.training())
    print(f"accuracy {evaluate(model, pipeline.validation()):.2f}")


if __name__ == "__main__":
    main()
