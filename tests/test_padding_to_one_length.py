"""`pad_sequence` in a collate function that gives all batches one length, and in those that only look like it."""

from __future__ import annotations

import textwrap

import pytest

from tests.library.cases import verify

BEFORE = """\
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from settings import args
"""
AFTER = """
for x in MpDeviceLoader(DataLoader(args.rows, collate_fn=collate, batch_size=8, drop_last=True), device):
    model(x)
    torch_xla.sync()
"""
CASES = {
    "padded or cut under tests of the shape": """
        def collate(rows):
            out = pad_sequence(rows, batch_first=True)
            if out.shape[1] < args.length:
                out = F.pad(out, (0, args.length - out.shape[1]))
            elif out.shape[1] > args.length:
                out = out[:, : args.length]
            return out
    """,
    "in a method of a collator, two batches": """
        class Collator:
            def __init__(self, length):
                self.length = length
            def fit(self, batch, value):
                missing = self.length - batch.size(1)
                return F.pad(batch, pad=(0, missing), value=value)[:, : self.length]
            def __call__(self, rows):
                ids = pad_sequence([row["ids"] for row in rows], True)
                mask = pad_sequence([row["mask"] for row in rows], True)
                return self.fit(ids, 1), self.fit(mask, 0)
        collate = Collator(args.length)
    """,
    "the first row is padded before": """
        def collate(rows):
            rows = [row[: args.length] for row in rows]
            rows[0] = nn.ConstantPad1d((0, args.length - rows[0].shape[0]), 0)(rows[0])
            return pad_sequence(rows, batch_first=True)
    """,
    "a layer, or columns of zeros beside it": """
        def collate(rows):
            out = pad_sequence(rows, batch_first=True)
            more = pad_sequence(rows, batch_first=True)
            zeros = torch.zeros(len(rows), args.length - out.shape[1])
            return torch.cat([out, zeros], dim=1), nn.ZeroPad1d((0, args.length - more.shape[1]))(more)
    """,
    "one column more": """
        def collate(rows):
            out = pad_sequence(rows, batch_first=True)  # expect: xla-dynamic-padding
            return F.pad(out, (1, 0), value=2)
    """,
    "two batches side by side, and one that is cut alone": """
        def collate(rows):
            first = pad_sequence(rows, batch_first=True)  # expect: xla-dynamic-padding
            second = pad_sequence(rows, batch_first=True)  # expect: xla-dynamic-padding
            third = pad_sequence(rows, batch_first=True)  # expect: xla-dynamic-padding
            return torch.cat([first, second], dim=1), third[:, : args.length]
    """,
    "another tensor is padded": """
        def collate(rows):
            out = pad_sequence(rows, batch_first=True)  # expect: xla-dynamic-padding
            other = torch.stack([row.sum() for row in rows])
            return out, F.pad(other, (0, args.length - other.shape[0]))
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES.keys())
def test_case(code: str) -> None:
    verify(BEFORE + textwrap.dedent(code) + AFTER)
