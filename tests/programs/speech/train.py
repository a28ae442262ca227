"""The entry: the loop, the model and the meter live in a package of their own."""

import torch
import torch_xla
from speech import Meter, Recogniser, batches, train

if __name__ == "__main__":
    device = torch_xla.device()
    recogniser = Recogniser(8).to(device)
    optimizer = torch.optim.SGD(recogniser.parameters(), lr=0.1)
    meter = Meter()
    train(recogniser, optimizer, batches(device, 4), meter)
    print(meter.mean())
