import torch_xla
from torch.utils.data import DataLoader
from transformers import AutoTokenizer

from rows import load_rows

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")


def collate(batch):
    return tokenizer(  # expect: xla-incomplete-padding
        [row["text"] for row in batch], padding="max_length", max_length=128, return_tensors="pt"
    )


loader = DataLoader(load_rows(), batch_size=8, collate_fn=collate, drop_last=True)
