"""Which classes of libraries are modules, and which of these hold modules of their own.

By the class names of transformers 5.24, diffusers 0.38, torchvision 0.24, timm 1.0.31 and the other packages named.
"""

from __future__ import annotations

import re
from functools import lru_cache

MODULES = (
    "torch.nn.",
    "lightning.LightningModule",
    "torchvision.models.",
    "torchaudio.models.",
    "timm.models.",
    "timm.layers.",
    "torch_geometric.nn.",
    "segmentation_models_pytorch.",
    "efficientnet_pytorch.",
    "diffusers.models.",
    "diffusers.ModelMixin",
    "diffusers.Autoencoder",
    "sentence_transformers.SentenceTransformer",
    "peft.PeftModel",
)
"""What the names of modules begin with; below a package, of its classes."""
BY_TASK = ("transformers.", "pytorch_transformers.", "pytorch_pretrained_bert.", "diffusers.", "adapters.")
"""Packages that call their models by what they are for: `BertForTokenClassification`, `UNet2DConditionModel`."""
PARTS = (
    "Attention",
    "Layer",
    "Encoder",
    "Decoder",
    "Embeddings",
    "Embedding",
    "Block",
    "MLP",
    "Head",
    "Norm",
    "Pooler",
)
"""What the names of their layers end with."""
OTHERS = re.compile(
    r"^(DataCollator|TF[A-Z]|Flax)|Output|(Config|Cache|Mixin|Trainer|Pipeline|Processor|Tokenizer|Arguments)$"
)
"""What tells the names of their other classes."""
TASK = re.compile(r"For[A-Z]|Model")
EMPTY = ("torch.nn.", "lightning.")
"""Modules that hold nothing but what a class derived from them puts there."""


@lru_cache(maxsize=4096)
def is_module_class(dotted: str) -> bool:
    """Whether a class of a library derives from `torch.nn.Module`."""
    name = dotted.rpartition(".")[2]
    if not name[:1].isupper():
        return False
    if dotted.startswith(MODULES):
        return True
    if not dotted.startswith(BY_TASK) or OTHERS.search(name):
        return False
    return TASK.search(name) is not None or name.endswith(PARTS)


def holds_parts(dotted: str) -> bool:
    """Whether a module of a library brings modules of its own, which a derived class calls by their names."""
    return is_module_class(dotted) and not dotted.startswith(EMPTY)
