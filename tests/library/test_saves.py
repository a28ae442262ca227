"""What writes values to files."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "pickles fetch what they write": """
        import pickle
        for x in loader:
            loss = update(x)
            probe.value(pickle.dumps(3))  # is: text
            pickle.dumps(loss)  # expect: xla-value-read
    """,
    "JSON refuses tensors": """
        import json
        for x in loader:
            loss = update(x)
            probe.value(json.dumps({"loss": 3}))  # is: text
            probe.value(json.dump({"loss": 3}, file))  # is: None
    """,
    "what lives on the device": """
        import wandb
        torch.save(model.state_dict(), "model.pt")  # expect: xla-torch-save
        torch.save({"steps": 3, "model": probe.other()}, "model.pt")
        torch.save([h], "rows.pt")
        xm.save(model.state_dict(), "model.pt")
        torch.save(optimizer.state_dict(), "optimizer.pt")  # expect: xla-torch-save
        torch.save(optimizer, "optimizer.pt")  # expect: xla-torch-save
        torch.save(model.parameters(), "model.pt")  # expect: xla-torch-save
        class Holder:
            def __init__(self):
                self.rows, self.steps = t, 3
        torch.save(Holder(), "holder.pt")  # expect: xla-torch-save
        torch.save((None, [t]), "rows.pt")  # expect: xla-torch-save
        torch.save(t if probe.other() else t + 1, "rows.pt")  # expect: xla-torch-save
        torch.save(t if probe.other() else h, "rows.pt")
        torch.save(probe.model().state_dict(), "model.pt")
    """,
    "after a loop whose loader is not seen": """
        def train(model, batches):
            adam = torch.optim.Adam(model.parameters())
            for x in batches:
                model(x).mean().backward()
                xm.optimizer_step(adam)
            if xm.is_master_ordinal():
                xm.save(model.state_dict(), "model.pt")
        def train_numbered(model, batches):
            adam = torch.optim.Adam(model.parameters())
            for (i, x), y in zip(enumerate(batches), range(99)):
                model(x).mean().backward()
                xm.optimizer_step(adam)
            if xm.is_master_ordinal():
                xm.save({"model": model.state_dict()}, "model.pt")
        def train_some(model, batches):
            adam = torch.optim.Adam(model.parameters())
            for i, x in enumerate(batches):
                model(x).mean().backward()
                xm.optimizer_step(adam)
                if i == 99:
                    break
            if xm.is_master_ordinal():
                xm.save(model.state_dict(), "model.pt")  # expect: xla-rank-read
        def train_for_long(model, data):
            adam = torch.optim.Adam(model.parameters())
            for i in range(99):  # expect: xla-missing-sync
                model(data).mean().backward()
                xm.optimizer_step(adam)
            if xm.is_master_ordinal():
                xm.save(model.state_dict(), "model.pt")  # expect: xla-rank-read
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
