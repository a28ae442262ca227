"""Operations that ran on the CPU, and which of them do so on the CPU device alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.runtime.exchange import State

CPU = "CPU"
LOWERED = {
    "aten::upsample_nearest2d_backward": "TPU and Trainium",
    "aten::upsample_bilinear2d_backward": "TPU",
}
"""What torch_xla 2.9 lowers on these devices and on no other (aten_xla_type.cpp asks for the device)."""


def fallbacks_of(states: Iterable[State]) -> tuple[Counter[str], Counter[str]]:
    """Those without a lowering, and those that the CPU device alone has none for; how often each."""
    everywhere: Counter[str] = Counter()
    here: Counter[str] = Counter()
    for state in states:
        for name, number in state.counts.fallbacks.items():
            (here if state.device == CPU and name in LOWERED else everywhere)[name] += number
    return everywhere, here
