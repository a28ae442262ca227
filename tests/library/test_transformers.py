"""Models, tokenizers, trainers."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what is built": """
        import transformers
        from transformers import AutoConfig, AutoModel, AutoTokenizer, BertForMaskedLM, BertTokenizer
        probe.value(AutoModel.from_pretrained("bert"))  # is: some model PreTrainedModel
        probe.value(BertForMaskedLM(3))  # is: some model PreTrainedModel
        probe.value(AutoConfig.from_pretrained("bert"))  # is: PretrainedConfig
        probe.value(AutoTokenizer.from_pretrained("bert"))  # is: PreTrainedTokenizer
        probe.value(BertTokenizer("vocabulary"))  # is: PreTrainedTokenizer
        probe.value(transformers.get_linear_schedule_with_warmup(optimizer, 1, 2))  # is: LambdaLR
        probe.value(transformers.utils.is_torch_xla_available())  # is: True fact
        probe.value(transformers.is_torch_xla_available())  # is: True fact
        fast = transformers.Adafactor(model.parameters())  # expect: xla-syncing-optimizer
        probe.value(fast)  # is: Adafactor
        probe.value(transformers.default_data_collator([h]))  # is: unknown
        probe.value(transformers.set_seed(3))  # is: unknown
        probe.value(transformers.DataCollatorForLanguageModeling(3))  # is: DataCollatorForLanguageModeling
    """,
    "tokenizers": """
        from transformers import AutoTokenizer
        tokenizer = AutoTokenizer.from_pretrained("bert", model_max_length=64)
        probe.value(tokenizer("a", return_tensors="pt", padding="max_length"))  # is: {host tensor..}
        probe.value(tokenizer.decode([3]))  # is: text
        probe.value(tokenizer.other())  # is: unknown
        probe.value(tokenizer.model_max_length)  # is: 64
        for_cased = AutoTokenizer.from_pretrained("bert-base-cased")
        probe.value(for_cased.model_max_length)  # is: 512
        probe.value(AutoTokenizer.from_pretrained("openai-community/gpt2-medium").model_max_length)  # is: 1024
        probe.value(AutoTokenizer.from_pretrained("google/t5-v1_1-base").model_max_length)  # is: Method
        probe.value(AutoTokenizer.from_pretrained("someone/bert-base-cased").model_max_length)  # is: Method
    """,
    "models": """
        from transformers import AutoModelForCausalLM
        net = AutoModelForCausalLM.from_pretrained("gpt2").to(device)
        probe.value(net)  # is: device model PreTrainedModel
        probe.value(net.config)  # is: PretrainedConfig
        probe.value(net.config is net.config)  # is: number
        probe.value(net(t))  # is: device output
        probe.value(net.training)  # is: number
    """,
    "a trainer of the project": """
        from transformers import Trainer, TrainerCallback
        class Mine(Trainer):
            def compute_loss(self, model, inputs):
                probe.value(model)  # is: device model Sequential
                probe.value(self.args.process_index)  # is: number rank
                probe.value(self.state.is_world_process_zero)  # is: number rank
                probe.value(self.args.output_dir)  # is: Method
                probe.value(self.is_world_process_zero())  # is: number rank
                return model(**inputs)
            def other(self, inputs):
                probe.value(inputs)  # is: unknown
        class Watch(TrainerCallback):
            def on_step_end(self, args, state, control, optimizer, **kwargs):
                probe.value(optimizer)  # is: Optimizer
                probe.value(args.local_rank)  # is: number rank
                if state.global_step % 50 == 0:
                    torch.save(kwargs["model"].state_dict(), "model.pt")  # expect: xla-torch-save
        trainer = Mine(model, callbacks=[Watch()])
        probe.value(trainer.train())  # is: unknown
    """,
    "an optimizer of the project that a trainer makes": """
        import transformers
        class Lamb(torch.optim.Optimizer):
            def __init__(self, params, lr=1e-3):
                super().__init__(params, {"lr": lr})
            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        norm = p.data.pow(2).sum().sqrt()
                        if norm == 0:  # expect: xla-tensor-branch
                            continue
                        p.data.add_(p.grad, alpha=-group["lr"])
        class Mine(transformers.Trainer):
            def create_optimizer_and_scheduler(self, num_training_steps):
                self.optimizer = Lamb(self.model.parameters())
    """,
    "an optimizer of the project that a trainer returns": """
        import transformers
        class Lamb(torch.optim.Optimizer):
            def step(self, closure=None):
                for p in self.param_groups[0]["params"]:
                    print(p.grad.norm())  # expect: xla-print-tensor
        class Mine(transformers.Trainer):
            def create_optimizer(self):
                if self.optimizer is None:
                    self.optimizer = Lamb(self.model.parameters(), lr=1e-3)
                return self.optimizer
    """,
    "an optimizer of the project that a trainer is given": """
        import transformers
        class Lamb(torch.optim.Optimizer):
            def step(self, closure=None):
                ratio = sum(p.norm().item() for p in self.param_groups[0]["params"])  # expect: xla-value-read
        net = transformers.AutoModel.from_pretrained("bert")
        transformers.Trainer(net, optimizers=(Lamb(net.parameters()), None)).train()
    """,
    "an optimizer of the project that one's own trainer is given": """
        import transformers
        class Lamb(torch.optim.Optimizer):
            def step(self, closure=None):
                ratio = [p.norm().item() for p in self.param_groups[0]["params"]]  # expect: xla-value-read
        class Mine(transformers.Trainer):
            def __init__(self, *args, scale=1, **kwargs):
                super().__init__(*args, **kwargs)
                self.scale = scale
        net = transformers.AutoModel.from_pretrained("bert")
        Mine(net, optimizers=(Lamb(net.parameters()), None)).train()
    """,
    "collators of language models over rows of a dataset": """
        import transformers
        from torch.utils.data import Dataset
        class Lines(Dataset):
            def __init__(self, rows, tokenizer):
                self.rows, self.tokenizer = rows, tokenizer
            def __getitem__(self, i):
                return self.encoded(self.rows[i][:128])
            def encoded(self, text):
                return self.tokenizer.encode_plus(text)
        tokenizer = transformers.AutoTokenizer.from_pretrained("bert")
        masked = transformers.DataCollatorForLanguageModeling(tokenizer)  # expect: xla-dynamic-padding
        mixed = transformers.DataCollatorForPermutationLanguageModeling(tokenizer)  # expect: xla-dynamic-padding
        words = transformers.DataCollatorForWholeWordMask(tokenizer)  # expect: xla-dynamic-padding
        from transformers.data.data_collator import _torch_collate_batch
        def collate(rows):
            return _torch_collate_batch(rows, tokenizer)  # expect: xla-dynamic-padding
        transformers.Trainer(model, data_collator=collate)
        transformers.Trainer(model, data_collator=masked, train_dataset=Lines(open("x").readlines(), tokenizer))
    """,
    "collators over rows that a dataset pads": """
        import transformers
        from torch.utils.data import Dataset
        class Lines(Dataset):
            def __init__(self, rows, tokenizer):
                self.rows, self.tokenizer = rows, tokenizer
            def __getitem__(self, i):
                return self.tokenizer(self.rows[i], padding="max_length", max_length=128, truncation=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained("bert")
        masked = transformers.DataCollatorForLanguageModeling(tokenizer)
        padded = transformers.DataCollatorWithPadding(tokenizer)
        transformers.Trainer(model, data_collator=masked, train_dataset=Lines(["x"], tokenizer))
    """,
    "a collator over rows that a dataset pads by hand": """
        import transformers
        from torch.utils.data import Dataset
        class Lines(Dataset):
            def __init__(self, rows, tokenizer):
                self.rows, self.tokenizer = rows, tokenizer
            def __getitem__(self, i):
                ids = self.tokenizer(self.rows[i])["input_ids"]
                return ids + [self.tokenizer.pad_token_id] * (128 - len(ids))
        tokenizer = transformers.AutoTokenizer.from_pretrained("bert")
        masked = transformers.DataCollatorForLanguageModeling(tokenizer)
        transformers.Trainer(model, data_collator=masked, train_dataset=Lines(["x"], tokenizer))
    """,
    "a collator over rows that map truncates": """
        import datasets, transformers
        tokenizer = transformers.AutoTokenizer.from_pretrained("bert")
        rows = datasets.load_dataset("x").map(lambda row: tokenizer(row["text"], truncation=True))
        mixed = transformers.DataCollatorForPermutationLanguageModeling(tokenizer)  # expect: xla-dynamic-padding
        transformers.Trainer(model, data_collator=mixed, train_dataset=rows)
    """,
    "a model of the project": """
        from transformers import BertModel
        class Mine(BertModel):
            pass
        net = Mine(3)
        probe.value(net.to(device))  # is: device model BertModel
        probe.value(net.config)  # is: PretrainedConfig
        probe.value(net(t))  # is: device output
        probe.value(net.generate(t, max_new_tokens=3))  # is: device tensor
    """,
    "what is generated": """
        from transformers import AutoModelForCausalLM
        net = AutoModelForCausalLM.from_pretrained("gpt2")
        probe.value(net.generate(h, max_new_tokens=3))  # is: some tensor
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
