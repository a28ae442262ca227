import torch_xla.core.xla_model as xm


def save(model, is_main):
    if is_main:
        xm.rendezvous("saved")  # expect: xla-rank-divergence
    xm.save(model.state_dict(), "weights.pt")


def announce(is_main, steps):
    if is_main:
        print("steps", steps)
