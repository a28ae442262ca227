"""What each rule's fixtures must show when they run: the bad ones against the good ones.

A figure is one of `measure.compare`. A rule without an entry has no fixture that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Relation = Callable[[Sequence[float], Sequence[float]], bool]


def more(bad: Sequence[float], good: Sequence[float]) -> bool:
    """Every bad fixture has more than any good one."""
    return min(bad) > max(good)


def now_and_then(bad: Sequence[float], good: Sequence[float]) -> bool:
    """Every bad fixture has more than any good one, but less than one a step on top."""
    return more(bad, good) and max(bad) - min(good) < 1


def doubled(bad: Sequence[float], good: Sequence[float]) -> bool:
    """Every bad fixture has at least twice as much as any good one."""
    return min(bad) >= 2 * max(good) > 0


def fewer(bad: Sequence[float], good: Sequence[float]) -> bool:
    """Every bad fixture has less than any good one, but has some."""
    return 0 < max(bad) < min(good)


def none(bad: Sequence[float], good: Sequence[float]) -> bool:
    """No bad fixture has any, every good one has."""
    return max(bad) == 0 < min(good)


def same(bad: Sequence[float], good: Sequence[float]) -> bool:
    """All have the same."""
    return len({*bad, *good}) == 1


CLAIMS: dict[str, dict[str, Relation]] = {
    "xla-value-read": {"executions": more},
    "xla-print-tensor": {"executions": more},
    "xla-tensor-branch": {"executions": more, "reads": more},
    "xla-late-read": {"executions": same, "reads": more},
    "xla-periodic-read": {"executions": now_and_then, "run_compiles": more},
    "xla-closure-argument": {"executions": more},
    "xla-hidden-read": {"executions": more, "reads": more},
    "xla-missing-sync": {"executions": none, "graph_growth": more},
    "xla-conditional-sync": {"executions": fewer, "graph": doubled},
    "xla-split-step": {"executions": doubled},
    "xla-redundant-sync": {"barriers": more, "compiles": same, "executions": same, "reads": same},
    "xla-closure-never-runs": {"callbacks": none},
    "xla-graph-growth": {"history_growth": more, "executions": same, "compiles": same, "graph_growth": same},
    "xla-costly-collective": {"executions": more, "reads": more, "barriers": more},
    "xla-dynamic-padding": {"compiles": more},
    "xla-ragged-batch": {"run_compiles": more, "compiles": same},
    "xla-data-dependent-shape": {"compiles": more, "executions": more, "reads": more},
    "xla-changing-shape": {"compiles": more, "executions": same},
    "xla-changing-constant": {"compiles": more, "executions": same},
    "xla-growing-tensor": {"compiles": more, "executions": same},
    "xla-host-random": {"compiles": more, "executions": same},
    "xla-cpu-fallback": {"executions": more, "reads": more, "compiles": same},
    "xla-exhausted-loader": {"executions": none, "barriers": fewer},
    "xla-foreign-grad-scaler": {"executions": more, "reads": more},
    "xla-syncing-optimizer": {"executions": more, "reads": more},
    "xla-syncing-clip": {"executions": more, "reads": more},
    "xla-stale-optimizer": {"updates": none},
    "xla-foreign-autocast": {"lowered": none},
    "xla-redundant-transfer": {"executions": same, "reads": same, "compiles": same},
    "xla-torch-save": {"reads": more, "executions": same},
    "xla-rank-read": {"executions": more, "reads": same},
}

GOOD: dict[str, float] = {"compiles": 0, "executions": 1, "graph_growth": 0, "history_growth": 0}
"""What every good fixture shows: one graph, compiled before the steps that are compared, run once a step."""
