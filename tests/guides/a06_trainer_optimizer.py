import torch_xla
from transformers import TrainingArguments

arguments = TrainingArguments("out", fp16=True, dataloader_num_workers=4)  # expect: xla-trainer-optimizer
