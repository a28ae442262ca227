"""With which loops a number changes, and in which of them each turn compiles a graph anew."""

from __future__ import annotations

import textwrap

import pytest

from tests.library.cases import verify

BEFORE = """\
import os
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
