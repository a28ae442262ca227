"""Datasets, samplers and loaders."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what a loader yields": """
        class Rows(torch.utils.data.Dataset):
            def __getitem__(self, index):
                return {"x": torch.ones(4), "y": 3}
            def __len__(self):
                return 8
        for batch in DataLoader(Rows(), batch_size=2):
            probe.value(batch)  # is: {x: host tensor, y: host tensor}
        for batch in MpDeviceLoader(DataLoader(Rows(), batch_size=2, drop_last=True), device):
            probe.value(batch)  # is: {x: device tensor, y: device tensor}
        for batch in DataLoader([(torch.ones(4), 1)] * 3):
            probe.value(batch)  # is: [host tensor, host tensor]
        for batch in DataLoader(probe.rows()):
            probe.value(batch)  # is: host output
        for batch in DataLoader(Rows() if probe.other() else [torch.ones(4)]):
            probe.value(batch)  # is: host tensor or {x: host tensor, y: host tensor}
    """,
    "rows that come one by one": """
        class Rows(torch.utils.data.IterableDataset):
            def __iter__(self):
                while True:
                    yield torch.ones(4)
        for batch in DataLoader(Rows()):
            probe.value(batch)  # is: host tensor
    """,
    "what nothing is known of is stacked": """
        import cv2
        class Rows(torch.utils.data.Dataset):
            def __init__(self, change):
                self.change = change
            def __getitem__(self, index):
                return self.change(image=cv2.imread(str(index)))["image"], 1
            def __len__(self):
                return 8
        class Named(Rows):
            def __getitem__(self, index):
                return {"image": cv2.imread(str(index)), "name": f"{index}.png"}
        for x, y in DataLoader(Rows(probe.change()), batch_size=2, drop_last=True):  # expect: xla-unwrapped-loader
            probe.value(x)  # is: host output
            with torch.no_grad():
                model(x.to(device))
            torch_xla.sync()
        for batch in DataLoader(Named(None), batch_size=2, drop_last=True):  # expect: xla-unwrapped-loader
            probe.value(batch)  # is: {image: host output, name: text}
            with torch.no_grad():
                model(batch["image"].to(device, non_blocking=True))
            torch_xla.sync()
        for batch in DataLoader([[probe.other(), 1]], batch_size=2, collate_fn=probe.collate, drop_last=True):
            probe.value(batch)  # is: host output
    """,
    "what a collate function makes": """
        import functools
        def collate(rows, size):
            return torch.stack(rows), size
        class Collate:
            def __call__(self, rows):
                return [torch.stack(rows)]
        for batch in DataLoader([torch.ones(4)], collate_fn=functools.partial(collate, size=3)):
            probe.value(batch)  # is: (host tensor, 3)
        for batch in DataLoader([torch.ones(4)], collate_fn=Collate()):
            probe.value(batch)  # is: [host tensor]
        for batch in DataLoader([torch.ones(4)], collate_fn=probe.collate):
            probe.value(batch)  # is: host output
        for batch in DataLoader([torch.ones(4)], collate_fn=None):
            probe.value(batch)  # is: host tensor
    """,
    "datasets of the library": """
        from torch.utils.data import BatchSampler, Subset, TensorDataset, random_split
        import torchvision
        table = TensorDataset(torch.ones(6, 2), torch.ones(6))
        probe.value(len(table))  # is: 6
        for batch in DataLoader(table):
            probe.value(batch)  # is: [host tensor, host tensor]
        first, second = random_split(table, [4, 2])
        probe.value(len(first))  # is: 4
        for batch in DataLoader(second):
            probe.value(batch)  # is: [host tensor, host tensor]
        for batch in DataLoader(Subset(table, [1, 2])):
            probe.value(batch)  # is: [host tensor, host tensor]
        probe.value(len(torchvision.datasets.MNIST("data", train=False)))  # is: 10000
        probe.value(len(torchvision.datasets.MNIST("data")))  # is: 60000
        probe.value(len(torchvision.datasets.MNIST("data", probe.other())))  # is: number
        probe.value(torch.utils.data.default_collate([h]))  # is: unknown
        class Mine(TensorDataset):
            def __init__(self):
                super().__init__(torch.ones(5, 2))
        probe.value(len(Mine()))  # is: 5
        probe.value(table.other())  # is: unknown
    """,
    "wrapping": """
        from torch_xla.distributed.parallel_loader import ParallelLoader
        probe.value(loader)  # is: device loader
        probe.value(ParallelLoader(DataLoader([h]), [device]).per_device_loader(device))  # is: device loader
        for x in MpDeviceLoader(probe.rows(), device):
            probe.value(x)  # is: device output
        for pair in MpDeviceLoader(zip([h], [h]), device):
            probe.value(pair)  # is: device output
        for x in loader.__iter__():
            probe.value(x)  # is: device tensor
        probe.value(loader.close())  # is: None
        probe.value(loader.other())  # is: unknown
    """,
    "batches as device loaders yield them": """
        rows = [({"x": torch.ones(4), "n": 3, "note": "a"}, torch.ones(4) if probe.other() else 3)] * 4
        for batch in MpDeviceLoader(DataLoader(rows, batch_size=2), device):
            probe.value(batch[0]["x"])  # is: device tensor
            probe.value(batch[0]["note"])  # is: 'a'
            probe.value(batch[1])  # is: device tensor
        def collate(rows):
            held = {}
            held[probe.key()] = torch.stack(rows)
            return held
        for batch in MpDeviceLoader(DataLoader([torch.ones(4)] * 4, collate_fn=collate), device):
            probe.value(batch)  # is: {device tensor..}
        def columns(rows):
            return [torch.stack(row) for row in rows]
        for batch in MpDeviceLoader(DataLoader([torch.ones(4)] * 4, collate_fn=columns), device):
            probe.value(batch[0])  # is: device tensor
    """,
    "samplers": """
        from torch.utils.data import BatchSampler, DistributedSampler, RandomSampler, WeightedRandomSampler
        probe.value(len(WeightedRandomSampler([0.5, 0.5], 6)))  # is: 6
        probe.value(WeightedRandomSampler([0.5, 0.5], probe.other()))  # is: WeightedRandomSampler
        probe.value(BatchSampler(RandomSampler(range(8)), 2, True))  # is: BatchSampler
        probe.value(DistributedSampler([1, 2], 2, 0, shuffle=True).shuffle)  # is: True
    """,
    "a loader under a progress bar is still the loader": """
        from tqdm import tqdm
        bar = tqdm(loader)
        for x in bar:
            loss = update(x)
            bar.set_postfix(loss=loss)  # expect: xla-print-tensor
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
