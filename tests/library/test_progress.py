"""Progress bars."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what they yield": """
        from tqdm import tqdm, trange
        import rich.progress
        for x in tqdm([t]):
            probe.value(x)  # is: device tensor of 3
        for i in trange(3):
            probe.value(i)  # is: number
        for x in rich.progress.track([h]):
            probe.value(x)  # is: host tensor of 3
        probe.value(tqdm(loader))  # is: device loader
        probe.value(tqdm(total=3))  # is: tqdm
    """,
    "what they show": """
        from tqdm import tqdm
        bar = tqdm(total=90)
        steps = tqdm(range(90))
        for step in steps:
            loss = update(torch.ones(2, 4, device=device))
            bar.update()
            bar.set_description("step")
            bar.set_postfix(loss=loss)  # expect: xla-print-tensor
            steps.set_postfix(loss=loss)  # expect: xla-print-tensor
            tqdm.write(str(step))
            torch_xla.sync()
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
