"""Checkpoints of the Hugging Face hub whose tokenizers are known to have a greatest length."""

from __future__ import annotations

ORIGINS = ("google-bert/", "distilbert/", "FacebookAI/", "albert/", "openai-community/", "google-t5/")
"""Under whose names the hub holds the checkpoints that once had none."""
LONGEST = {
    "bert-base-": 512, "bert-large-": 512, "distilbert-base-": 512,
    "roberta-": 512, "distilroberta-": 512, "xlm-roberta-": 512,
    "albert-": 512, "google/electra-": 512, "t5-": 512,
    "gpt2": 1024, "distilgpt2": 1024,
}  # fmt: skip
"""By the beginning of a name: `model_max_length`, in tokens.

Until transformers 4.39 `PRETRAINED_POSITIONAL_EMBEDDINGS_SIZES` of each tokenizer says so; since then the same number
stands in the checkpoint's `tokenizer_config.json`.
"""


def longest_of(checkpoint: str) -> int | None:
    """How many tokens the tokenizer of a checkpoint gives at most; None where that is not known."""
    name = next((checkpoint.removeprefix(each) for each in ORIGINS if checkpoint.startswith(each)), checkpoint)
    return next((length for beginning, length in LONGEST.items() if name.startswith(beginning)), None)
