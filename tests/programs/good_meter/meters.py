import torch


class Meter:
    def __init__(self):
        self.seen = 0

    def update(self, value, n=1):
        self.seen += n
        self.take(value.detach(), n)

    def take(self, value, n):
        raise NotImplementedError


class Mean(Meter):
    def __init__(self):
        super().__init__()
        self.total = 0.0

    def take(self, value, n):
        self.total = self.total + value * n

    @property
    def value(self):
        return float(self.total) / max(self.seen, 1)


class Worst(Meter):
    def __init__(self):
        super().__init__()
        self.largest = None

    def take(self, value, n):
        self.largest = value if self.largest is None else torch.maximum(self.largest, value)

    @property
    def value(self):
        return self.largest.item()
