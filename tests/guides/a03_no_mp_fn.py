import torch_xla
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments


def main():  # expect: xla-missing-mp-fn
    model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
    Trainer(model, TrainingArguments("out"), train_dataset=[]).train()


if __name__ == "__main__":
    main()
