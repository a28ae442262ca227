class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add(self, value):
        self.total += float(value)  # expect: xla-value-read
        self.count += 1

    def mean(self):
        return float(self.total) / self.count
