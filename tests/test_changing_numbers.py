"""With which loops a number changes, and in which of them each turn compiles a graph anew."""

from __future__ import annotations

import textwrap

import pytest

from tests.library.cases import verify

BEFORE = """\
import os, random
from dataclasses import dataclass

@dataclass
class Place:
    name: str
    at: int

weight = model[0].weight.data.flatten()
"""
TRIALS = {
    "a place is written, a barrier follows, and the batches are evaluated": """
        @torch.no_grad()
        def influence(places):
            for place in range(len(places)):
                weight[place] = 0  # expect: xla-changing-constant
                torch_xla.sync()
                total = 0
                for x in loader:
                    total += model(x).sum().detach()
                print(total.item())

        influence(range(1000))
    """,
    "the barrier is that of the loader inside": """
        with torch.no_grad():
            for kept in range(10, 1000, 10):
                cut = weight[:kept]  # expect: xla-changing-shape
                for x in loader:
                    y = model(x) + cut.sum()
    """,
    "the number is used in the steps inside": """
        with torch.no_grad():
            for power in range(2, 100):
                for x in loader:
                    y = model(x) ** power  # expect: xla-changing-constant
    """,
    "what each trial adds to a tensor of results": """
        results = torch.zeros(100, device=device)
        for i, name in enumerate(os.listdir("weights")):
            model.load_state_dict(torch.load(name))
            with torch.no_grad():
                score = sum(model(x).sum() for x in loader)
            results[i] = score  # expect: xla-changing-constant
            torch_xla.sync()
    """,
    "an epoch that trains costs one compilation": """
        results = torch.zeros(100, device=device)
        for epoch in range(100):
            for x in loader:
                update(x)
            with torch.no_grad():
                for x in loader:
                    y = model(x)
            results[epoch] = y.sum()
            torch_xla.sync()
    """,
    "a few trials cost a few compilations": """
        results = torch.zeros(4, device=device)
        for i in range(4):
            with torch.no_grad():
                for x in loader:
                    y = model(x)
            results[i] = y.sum()
            torch_xla.sync()
    """,
}


@pytest.mark.parametrize("code", TRIALS.values(), ids=TRIALS.keys())
def test_trials_around_evaluations(code: str) -> None:
    verify(BEFORE + textwrap.dedent(code))


RECORDS = {
    "dicts of a comprehension, an unpacked tuple, and objects": """
        for record in [{"name": "weight", "at": n} for n in range(18)]:
            weight[record["at"]] = 0  # expect: xla-changing-constant
            torch_xla.sync()
        for name, at in [("weight", n) for n in range(18)]:
            weight[at] = 0  # expect: xla-changing-constant
            torch_xla.sync()
        for i, place in enumerate([Place("weight", 2 * n + 1) for n in range(18)]):
            weight[place.at] = 0  # expect: xla-changing-constant
            torch_xla.sync()
    """,
    "records that a loop has collected, chosen and sorted": """
        records = []
        for name, parameter in model.named_parameters():
            for at in range(parameter.numel()):
                records.append({"name": name, "at": at})
        for record in random.sample(records, 100):
            weight[record["at"]] = 0  # expect: xla-changing-constant
            torch_xla.sync()
        for record in sorted(records, key=lambda record: record["name"])[:50]:
            weight[: record["at"]].sum()  # expect: xla-changing-shape
            torch_xla.sync()
        for i in range(len(records)):
            weight[records[i]["at"]] = 0  # expect: xla-changing-constant
            torch_xla.sync()
    """,
    "a dict's values, a generator, and a class of records": """
        class Records:
            def __len__(self):
                return 99
            def __getitem__(self, at):
                return {"at": at, "width": 4}
        def places():
            for n in range(99):
                yield n, {"at": n}

        for name, at in {str(n): n for n in range(99)}.items():
            weight[at] = 0  # expect: xla-changing-constant
            torch_xla.sync()
        for at, record in places():
            weight[at] = weight[record["at"]]  # expect: xla-changing-constant
            torch_xla.sync()
        for record in Records():
            weight[record["at"]] = weight[: record["width"]].sum()  # expect: xla-changing-constant
            torch_xla.sync()
    """,
    "what is the same in all records": """
        width = int(os.environ["WIDTH"])
        longest = 0
        for text in open("texts"):
            longest = max(longest, len(text))
            width += 1
        for record in [{"name": n, "width": width, "longest": longest} for n in range(18)]:
            weight[: record["width"]].sum()
            weight[: record["longest"]].sum()
            torch_xla.sync()
        for epoch in range(18):
            rows = []
            for n in range(18):
                rows.append({"width": width, "name": n})
            for row in rows:
                weight[: row["width"]].sum()
                torch_xla.sync()
    """,
    "what a loop writes into its records is found there": """
        records = [{"at": n} for n in range(18)]
        for record in records:
            record["loss"] = update(torch.ones(2, 4, device=device))
            torch_xla.sync()
        for record in records:
            update(record["loss"] * torch.ones(2, 4, device=device))
            torch_xla.sync()
            print(record["loss"].item())  # expect: xla-late-read
    """,
}


@pytest.mark.parametrize("code", RECORDS.values(), ids=RECORDS.keys())
def test_numbers_in_records(code: str) -> None:
    verify(BEFORE + textwrap.dedent(code))


ROWS = {
    "an index into what was put together from records": """
        records = []
        for batch in range(8):
            records.append({"x": torch.zeros(8, 50, 4, device=device), "y": torch.zeros(8, 50, device=device)})
        columns = {name: torch.cat([record[name] for record in records]) for name in records[0].keys()}
        batches = [dict(zip(columns, part)) for part in zip(*columns.values())]
        for sample in batches:
            for at in range(50):
                update(sample["x"][at])  # expect: xla-changing-constant
                torch_xla.sync()
    """,
    "columns of rows": """
        rows = []
        for x in loader:
            rows.append((x, 1))
        xs, ys = zip(*rows)
        probe.value(xs)  # is: (device tensor..)
        probe.value(ys)  # is: (1..)
    """,
    "the rows of a tensor: a barrier executes all of them": """
        for row in torch.zeros(100, 4).to(device):
            update(row)
            torch_xla.sync()
    """,
}


@pytest.mark.parametrize("code", ROWS.values(), ids=ROWS.keys())
def test_rows_of_tensors(code: str) -> None:
    verify(BEFORE + textwrap.dedent(code))
