"""Models whose `forward` is reached by a batch as `**`, through a class of a library, or by a framework alone."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse, read

if TYPE_CHECKING:
    from pathlib import Path

WATCHED = frozenset(
    {"xla-value-read", "xla-late-read", "xla-tensor-branch", "xla-data-dependent-shape", "xla-growing-tensor"}
)
DATA = """
import torch
from torch.utils.data import DataLoader

def loader():
    return DataLoader(torch.load("rows.pt"), batch_size=4, drop_last=True)
"""
LOOP = """
import torch
import torch_xla
import torch_xla.core.xla_model as xm
from data import loader
from model import Net

device = torch_xla.device()
net = Net.from_pretrained("base") if hasattr(Net, "from_pretrained") else Net()
net.to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in loader():
    batch = {name: value.to(device) for name, value in batch.items()}
    optimizer.zero_grad()
    net(**batch).backward()
    xm.optimizer_step(optimizer, barrier=True)
"""
PROGRAMS = {
    "a batch of names": {
        "data.py": DATA,
        "main.py": LOOP,
        "model.py": """
            from torch import nn

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.head = nn.Linear(4, 2)

                def forward(self, x, mask, labels=None, return_dict=None, size: int = 3, **more):
                    picked = x[mask > 0]  # expect: xla-data-dependent-shape
                    if mask.sum() == 0:  # expect: xla-tensor-branch
                        picked = x
                    kept = labels[labels != -100]  # expect: xla-data-dependent-shape
                    if return_dict:
                        return {}
                    if size > 3:
                        return None
                    return self.head(picked).mean()
        """,
    },
    "a batch that a helper moved and a loader of a device": {
        "data.py": DATA,
        "model.py": """
            from torch import nn

            class Net(nn.Module):
                def forward(self, x, y):
                    return (x - y).sum() * (x * y).sum().item()  # expect: xla-value-read
        """,
        "main.py": """
            import torch_xla
            import torch_xla.distributed.parallel_loader as pl
            from data import loader
            from model import Net

            device = torch_xla.device()
            net = Net().to(device)
            for batch in pl.MpDeviceLoader(loader(), device):
                net(**batch).backward()
        """,
    },
    "a batch of places": {
        "data.py": DATA,
        "model.py": """
            from torch import nn

            class Net(nn.Module):
                def forward(self, x, y, weight=None):
                    if (x > y).any():  # expect: xla-tensor-branch
                        x = y
                    return x.sum()
        """,
        "main.py": """
            import torch_xla
            from data import loader
            from model import Net

            device = torch_xla.device()
            net = Net().to(device)
            for batch in loader():
                net(*[part.to(device) for part in batch]).backward()
                torch_xla.sync()
        """,
    },
    "a class for a task": {
        "data.py": DATA,
        "main.py": LOOP,
        "model.py": """
            import torch
            from transformers import ElectraForPreTraining

            class Net(ElectraForPreTraining):
                def forward(self, x, labels):
                    hidden = self.electra(x)[0]
                    scores = self.discriminator_predictions(hidden)
                    if scores.max() > 10:  # expect: xla-tensor-branch
                        scores = scores.clamp(max=10)
                    self.get_output_embeddings()
                    return scores.mean()
        """,
    },
    "a base with a configuration": {
        "data.py": DATA,
        "main.py": LOOP,
        "model.py": """
            from torch import nn
            from transformers import BertModel, BertPreTrainedModel

            class Net(BertPreTrainedModel):
                def __init__(self, config, classes=2):
                    super().__init__(config)
                    self.bert = BertModel(config)
                    self.head = nn.Linear(config.hidden_size, classes)
                    self.post_init()

                def forward(self, input_ids, attention_mask=None):
                    logits = self.head(self.bert(input_ids, attention_mask=attention_mask)[0])
                    print(logits.mean().item())  # expect: xla-value-read
                    return logits.mean()
        """,
    },
    "a network of vision that is derived from": {
        "data.py": DATA,
        "main.py": LOOP,
        "model.py": """
            from torchvision.models.resnet import BasicBlock, ResNet

            class Net(ResNet):
                def __init__(self):
                    super().__init__(BasicBlock, [2, 2, 2, 2])

                def forward(self, x):
                    x = self.layer1(self.conv1(x))
                    return x[x > 0].mean()  # expect: xla-data-dependent-shape
        """,
    },
    "decoding that reads each token": {
        "model.py": """
            import torch
            from transformers import GPT2LMHeadModel

            class Writer(GPT2LMHeadModel):
                def forward(self, ids):
                    return self.lm_head(self.transformer(ids)[0])

                @torch.no_grad()
                def write(self, ids, steps):
                    for _ in range(steps):
                        token = self.forward(ids)[:, -1].argmax(-1, keepdim=True)
                        ids = torch.cat([ids, token], 1)  # expect: xla-growing-tensor
                        if (token == 2).all():  # expect: xla-tensor-branch
                            break
                    return ids
        """,
        "main.py": """
            import torch_xla
            from model import Writer
            from transformers import AutoTokenizer

            device = torch_xla.device()
            writer = Writer.from_pretrained("gpt2").to(device)
            tokenizer = AutoTokenizer.from_pretrained("gpt2")
            for line in open("prompts.txt"):
                batch = tokenizer(line, return_tensors="pt", padding="max_length", max_length=8, truncation=True)
                writer.write(batch.input_ids.to(device), 32)
                torch_xla.sync()
        """,
    },
    "a factory of two classes that a trainer gets": {
        "nets.py": """
            from torch import nn

            class Wide(nn.Module):
                def forward(self, x, labels):
                    if x.abs().max() > 9:  # expect: xla-tensor-branch
                        x = x.clamp(-9, 9)
                    return {"loss": (x - labels).mean()}

            class Deep(nn.Module):
                def forward(self, x, labels=None):
                    x = x[labels != -100]  # expect: xla-data-dependent-shape
                    return {"loss": x.mean()}
        """,
        "factory.py": """
            def build(name):
                if name == "wide":
                    from nets import Wide
                    return Wide()
                from nets import Deep
                return Deep()
        """,
        "trainer.py": """
            from transformers import Trainer

            class Told(Trainer):
                def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
                    outputs = model(**inputs)
                    self.log({"loss": outputs["loss"].item()})  # expect: xla-value-read
                    return (outputs["loss"], outputs) if return_outputs else outputs["loss"]

                def training_step(self, model, inputs, num_items_in_batch=None):
                    loss = super().training_step(model, inputs)
                    if loss > 5:  # expect: xla-tensor-branch
                        print("a bad batch")
                    return loss
        """,
        "main.py": """
            import sys
            import torch_xla
            from transformers import TrainingArguments
            from factory import build
            from trainer import Told

            def _mp_fn(index):
                trainer = Told(model=build(sys.argv[1]), args=TrainingArguments("out"), train_dataset=[])
                trainer.train()

            if __name__ == "__main__":
                torch_xla.launch(_mp_fn)
        """,
    },
    "a model that only an engine of another library runs": {
        "nets.py": """
            from torch import nn

            class Net(nn.Module):
                def forward(self, x):
                    return x.sum() * x.norm().item()  # expect: xla-value-read
        """,
        "main.py": """
            import torch
            import torch_xla
            from ignite.engine import create_supervised_trainer
            from nets import Net

            net = Net().to(torch_xla.device())
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            create_supervised_trainer(net, optimizer, torch.nn.MSELoss()).run([], max_epochs=3)
        """,
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS)
def test_program(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, code in files.items():
        (tmp_path / name).write_text(textwrap.dedent(code), encoding="utf-8")
    project = Project(tmp_path)
    for name in files:
        path = tmp_path / name
        text = read(path).decode()
        found = check_module(parse(text, path), project, Settings(), WATCHED)
        assert {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in found} == expected(text), name
