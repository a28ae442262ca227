"""Batches padded by hand to their longest row, in the spellings that people use to find it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.library.cases import verify
from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse, read

if TYPE_CHECKING:
    from pathlib import Path

AFTER = """
from settings import data
for x in MpDeviceLoader(DataLoader(data, collate_fn=collate, batch_size=8, drop_last=True), device):
    model(x)
    torch_xla.sync()
"""
CASES = {
    "the longest row by its length": """
        def collate(rows):
            longest = max(rows, key=lambda row: len(row[0]))[0]
            return torch.zeros(len(rows), longest.size(0))  # expect: xla-dynamic-padding
    """,
    "by a function, in a part": """
        def length_of(row):
            return row[1].shape[0]
        def collate(rows):
            longest = max(rows, key=length_of)[1]
            return torch.zeros(len(rows), longest.shape[0])  # expect: xla-dynamic-padding
    """,
    "sorted, the longest first": """
        def collate(rows):
            rows = sorted(rows, key=lambda row: row.size(0), reverse=True)
            return torch.full((len(rows), len(rows[0])), 1)  # expect: xla-dynamic-padding
    """,
    "sorted in place, the longest last": """
        def collate(rows):
            rows.sort(key=len)
            return torch.zeros(len(rows), rows[-1].shape[0])  # expect: xla-dynamic-padding
    """,
    "lengths in order": """
        def collate(rows):
            lengths = sorted((len(row) for row in rows), reverse=True)
            return torch.zeros(len(rows), lengths[0])  # expect: xla-dynamic-padding
    """,
    "one row after the other": """
        def collate(rows):
            longest = 0
            for row in rows:
                longest = max(longest, len(row))
            return torch.zeros(len(rows), longest)  # expect: xla-dynamic-padding
    """,
    "one after the other, by a test": """
        class Collator:
            def __call__(self, rows):
                longest = 0
                for row in rows:
                    if longest < row.size(0):
                        longest = row.size(0)
                return torch.zeros(len(rows), longest)  # expect: xla-dynamic-padding
        collate = Collator()
    """,
    "how many features the longest row has": """
        def collate(rows):
            rows.sort(key=len, reverse=True)
            return torch.zeros(len(rows), 128, rows[0].size(1))
    """,
    "another row, and another order": """
        def collate(rows):
            rows = sorted(rows, key=len, reverse=True)
            first = sorted(rows, key=lambda row: row[0].sum())[0]
            return torch.zeros(len(rows), len(first)), torch.zeros(len(rows), len(rows[1]))
    """,
    "cut to what all batches have": """
        def collate(rows):
            longest = 0
            for row in rows:
                longest = max(longest, len(row))
            longest = 128
            return torch.zeros(len(rows), longest)
    """,
    "at least so many": """
        def mask(length):
            length = max(length, 2)
            return torch.zeros(length)
        def collate(rows):
            return [mask(len(rows[0])) for _ in range(len(rows))]
    """,
    "at least so many, row by row": """
        def collate(rows):
            for row in rows:
                length = len(row)
                length = max(length, 2)
            return torch.zeros(len(rows), 128), torch.zeros(length)
    """,
    "the longest of all rows, once": """
        from settings import rows
        longest = 0
        for row in rows:
            longest = max(longest, len(row))
        def collate(batch):
            return torch.zeros(len(batch), longest)
    """,
}


@pytest.mark.parametrize("name", CASES)
def test_the_longest_row(name: str) -> None:
    verify(textwrap.dedent(CASES[name]) + AFTER)


def test_rows_of_one_length() -> None:
    collate = """
def collate(rows):
    longest = max(rows, key=lambda row: row.shape[0])
    return torch.zeros(len(rows), longest.shape[0])
"""
    verify(collate + AFTER.replace("from settings import data", "data = [torch.ones(4)] * 8"))


ROWS = """
from transformers import AutoTokenizer, DataCollatorForLanguageModeling

class Rows(torch.utils.data.Dataset):
    def __init__(self, texts):
        self.tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
        self.texts = texts
    def __getitem__(self, i, padding={padding}, longest=None):
        return self.tokenizer(self.texts[i], padding=padding, truncation=True, max_length=longest or 128)

collate = DataCollatorForLanguageModeling(AutoTokenizer.from_pretrained("bert-base-uncased"))
"""


@pytest.mark.parametrize(("padding", "found"), [("False", True), ('"max_length"', False)])
def test_a_row_is_made_with_the_defaults(padding: str, found: bool) -> None:
    text = ROWS.format(padding=padding)
    if found:
        text = text.replace('uncased"))\n', 'uncased"))  # expect: xla-dynamic-padding\n')
    verify(text)


def test_rows_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text("import torch\n" + ROWS.format(padding="False").split("\ncollate")[0])
    (tmp_path / "train.py").write_text(
        textwrap.dedent("""
            from transformers import AutoModelForMaskedLM, AutoTokenizer, DataCollatorForLanguageModeling
            from transformers import Trainer, TrainingArguments
            from rows import Rows

            def main(texts):
                tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
                collate = DataCollatorForLanguageModeling(tokenizer)
                model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
                Trainer(model, TrainingArguments("out"), train_dataset=Rows(texts), data_collator=collate).train()

            def _mp_fn(index):
                main(["one", "two"])
        """)
    )
    found = check_module(
        parse(read(tmp_path / "train.py").decode(), tmp_path / "train.py"),
        Project(tmp_path),
        Settings(),
        frozenset({"xla-dynamic-padding"}),
    )
    assert [finding.node.lineno for finding in found] == [8]
