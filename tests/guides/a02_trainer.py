import torch_xla.distributed.xla_multiprocessing as xmp
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments


def main(rows):
    model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
    Trainer(model, TrainingArguments("out"), train_dataset=rows).train()


def _mp_fn(index):
    main([])
