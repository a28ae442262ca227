from torch import nn


class Ranker(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(features, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, better, worse):
        return self.score(better) - self.score(worse)
