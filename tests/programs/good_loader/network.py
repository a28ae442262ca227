from torch import nn


def build(features, kinds, width=16):
    return nn.Sequential(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, kinds))
