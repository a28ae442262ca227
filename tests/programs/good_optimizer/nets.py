from torch import nn


class Coder(nn.Module):
    def __init__(self, width, code):
        super().__init__()
        self.inwards = nn.Linear(width, code)
        self.outwards = nn.Linear(code, width)

    def forward(self, rows):
        return self.outwards(self.inwards(rows).relu())
