# Each batch has the length of its longest text.

import tempfile

import torch
import torch_xla
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerFast


def built():
    words = Tokenizer(WordLevel({"[UNK]": 0, "[PAD]": 1, "a": 2, "b": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    folder = tempfile.mkdtemp()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]").save_pretrained(folder)
    return folder


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    tokenizer = AutoTokenizer.from_pretrained(built())
    model = nn.EmbeddingBag(4, 1, mode="sum").to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for step in range(steps):
        texts = ["a b " * (step % 8 + 1), "b"]
        batch = tokenizer(texts, padding=True, max_length=16, return_tensors="pt").to(device)
        optimizer.zero_grad()
        weights = batch["attention_mask"].float()
        loss = (model(batch["input_ids"], per_sample_weights=weights) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        torch_xla.sync()
    return torch.stack(losses).tolist()
