import torch_xla
from transformers import TrainingArguments

arguments = TrainingArguments(  # expect: xla-unknown-argument
    "out", dataloader_num_workers=4, preprocessing_num_workers=4
)
