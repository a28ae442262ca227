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
        self.total += value.item() * n  # expect: xla-value-read

    @property
    def value(self):
        return self.total / max(self.seen, 1)


class Worst(Meter):
    def __init__(self):
        super().__init__()
        self.value = 0.0

    def take(self, value, n):
        if value > self.value:  # expect: xla-tensor-branch
            self.value = float(value)  # expect: xla-value-read
