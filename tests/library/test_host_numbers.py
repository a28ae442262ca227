"""Numbers of the host."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "math converts tensors": """
        import math, operator, statistics
        for x in loader:
            loss = update(x)
            math.sqrt(loss)  # expect: xla-value-read
            math.fsum([loss])  # expect: xla-value-read
            probe.value(math.prod([loss, loss]))  # is: device tensor
            statistics.fmean([loss, loss])  # expect: xla-value-read
            statistics.median([loss, loss])  # expect: xla-value-read
            operator.index(loss.long())  # expect: xla-value-read
        probe.value(math.sqrt(2))  # is: number
        probe.value(math.prod([2, 3]))  # is: number
        probe.value(statistics.mean([2, 3]))  # is: unknown
    """,
    "random numbers": """
        import random
        import numpy as np
        probe.value(random.random())  # is: number random
        probe.value(random.randint(1, 3))  # is: number random
        probe.value(random.seed(1))  # is: unknown
        probe.value(random.choice([1, 2]))  # is: number random
        probe.value(random.choice([h]))  # is: host tensor of 3
        probe.value(random.sample([1, 2], 1))  # is: [number random..]
        probe.value(random.choices([h], k=2))  # is: [host tensor of 3..]
        probe.value(random.choice())  # is: number random
        generator = np.random.default_rng(3)
        probe.value(generator.integers(3))  # is: number random
        probe.value(generator.choice([h]))  # is: host tensor of 3
        probe.value(generator.shuffle([1]))  # is: unknown
        probe.value(np.random.choice([1, 2]))  # is: number random
    """,
    "a drawn number decides what is recorded": """
        import random
        for x in loader:
            if random.random() < 0.5:  # expect: xla-host-random
                x = x * 2
            update(x)
    """,
    "clocks and NumPy": """
        import time
        import numpy as np
        probe.value(time.time())  # is: number clock
        probe.value(time.sleep(1))  # is: None
        probe.value(np.sqrt(3))  # is: number
        probe.value(np.zeros(3))  # is: unknown
    """,
    "numbers that numpy computes from drawn ones": """
        import numpy as np
        for x in loader:
            side = int(4 * np.sqrt(1 - np.random.beta(1, 1)))
            left = np.random.randint(4)
            begin, end = np.clip(left - side // 2, 0, 4), np.clip(left + side // 2, 0, 4)
            fixed = int(4 * np.sqrt(0.25))
            many = np.sqrt(np.arange(4))
            x[:, :side] = 0  # expect: xla-changing-shape
            x[:, begin:end] = 0  # expect: xla-changing-constant
            x[:, :fixed] = 0
            update(x * np.maximum(0.5, 0.25))
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
