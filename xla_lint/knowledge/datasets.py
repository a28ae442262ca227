"""How many rows the datasets of torchvision have, where the dataset is what its name says.

Source: the datasets' own documentation; training rows, then test rows.
"""

ROWS = {
    "MNIST": (60_000, 10_000),
    "FashionMNIST": (60_000, 10_000),
    "KMNIST": (60_000, 10_000),
    "QMNIST": (60_000, 60_000),
    "CIFAR10": (50_000, 10_000),
    "CIFAR100": (50_000, 10_000),
}
