import torch
from torch import nn


class Recogniser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Linear(width, width)
        self.head = nn.Linear(width, 3)

    def forward(self, frames):
        encoded = torch.relu(self.encoder(frames))
        if encoded.isnan().any():  # expect: xla-tensor-branch
            encoded = encoded.nan_to_num()
        return self.head(encoded)
