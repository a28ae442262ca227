"""A launch whose pieces are built in one file, moved in another, and saved in a third."""

import pieces
import saving
import torch_xla
import torch_xla.core.xla_model as xm


def _mp_fn(index):
    device = torch_xla.device()
    model, optimizer = pieces.build()
    pieces.place(model, device)
    for _ in range(6):
        pieces.step(model, optimizer, device)
        torch_xla.sync()
    saving.save(model, index == 0)
    saving.announce(index == 0, 6)


if __name__ == "__main__":
    torch_xla.launch(_mp_fn)
