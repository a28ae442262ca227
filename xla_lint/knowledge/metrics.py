"""Metrics of torchmetrics that add to their state in place: left on the host, they fetch what the device gives them.

By runs of `update` on torch_xla 2.9.0 with torchmetrics 1.9, of metrics that were never moved: these fetch once or
twice in each. Others (`Accuracy` and what counts as it does) take their state to the device with the first update.
"""

from __future__ import annotations

import re

_ADDING = re.compile(
    r"(Binary|Multiclass|Multilabel|)(CohenKappa|ConfusionMatrix|ExactMatch|JaccardIndex|MatthewsCorrCoef)"
    r"|LogCoshError|MeanAbsoluteError|(Symmetric|Weighted|)MeanAbsolutePercentageError|MeanSquared(Log|)Error"
    r"|RelativeSquaredError|TweedieDevianceScore"
)


def adds_in_place(dotted: str) -> bool:
    """Whether a metric, by its dotted name, adds to its state in place."""
    return _ADDING.fullmatch(dotted.rpartition(".")[2]) is not None
