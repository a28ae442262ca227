"""`xla-sagemaker-distribution`."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.knowledge.sagemaker import numbers, table
from xla_lint.program.domain.values import NONE, Mapping, Number, Text
from xla_lint.rules.base import Confidence, Severity
from xla_lint.rules.sagemaker.base import EstimatorRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding
    from xla_lint.rules.sagemaker.estimator import Estimator, Launcher

TOGETHER = (
    frozenset({"smdistributed.modelparallel", "mpi"}),
    frozenset({"smdistributed.modelparallel", "torch_distributed"}),
    frozenset({"smdistributed.dataparallel", "torch_distributed"}),
)
"""Launchers that the SDK wants, or allows, side by side."""
DISPATCHES_ITSELF = (b"SM_HOSTS", b"SM_CURRENT_HOST", b"resourceconfig.json", b"subprocess", b"os.exec")
"""A script that names one of these finds the other instances without a launcher, or starts one."""


class SagemakerDistribution(EstimatorRule):
    """The `distribution` of an estimator names no launcher, or not the one that was meant.

    ## What it does
    Finds `PyTorch`, `HuggingFace` and `TensorFlow` estimators whose `distribution` has a key that the SDK does not
    know, a launcher without `enabled` or with an `enabled` that is not a boolean, two launchers at once, a launcher
    other than `torch_distributed` on Trainium, or, for PyTorch, none although several instances are asked for. The
    finding stands at the estimator.

    ## Why it matters
    The SDK takes any key. `{"torchdistributed": {"enabled": True}}` and `{"pytorchddp": {}}` start the script once on
    each instance without a launcher: the job succeeds, and every instance has trained a model of its own. Two
    launchers are accepted too, but only one of them runs. `pytorchddp` beside `smdistributed`, and other launchers on
    Trainium, end in a ValueError.

    ## What to write instead
    One key of `torch_distributed`, `smdistributed`, `pytorchddp`, `pytorchxla`, `mpi`, `parameter_server` and
    `multi_worker_mirrored_strategy`, switched on by a boolean:

    ```python
    PyTorch(..., instance_count=2, distribution={"torch_distributed": {"enabled": True}})
    ```

    ## When it is fine
    Several instances without a launcher are fine where the script finds its peers by itself (`SM_HOSTS`), or where
    the entry point is a shell script; such scripts are left alone. `mpi` beside `smdistributed.modelparallel`, and
    `torch_distributed` beside `smdistributed`, belong together.
    """

    symbol = "xla-sagemaker-distribution"
    number = "9791"
    severity = Severity.ERROR
    message = "this estimator does not launch what it should: %(problem)s; %(remedy)s"

    def check_estimator(self, estimator: Estimator) -> Iterator[Finding]:
        """Report estimators whose launcher will not run."""
        found = next(_problems(estimator), None)
        if found is not None:
            problem, remedy, confidence = found
            yield self.finding(estimator.call.node, confidence, problem=problem, remedy=remedy)


Problem = tuple[str, str, Confidence]


def _problems(estimator: Estimator) -> Iterator[Problem]:
    value = estimator.distribution
    certain = Confidence.HIGH if estimator.distribution_is_certain else Confidence.CONTROL_FLOW
    if value is not None:
        for problem, remedy in (*_unknown_keys(value), *_switches(estimator), *_clashes(estimator), *_start(estimator)):
            yield problem, remedy, certain
    if _alone(estimator):
        yield (
            f"{estimator.instances} instances and no launcher: each one trains a model of its own",
            'pass distribution={"torch_distributed": {"enabled": True}}',
            Confidence.INFERENCE,
        )


def _unknown_keys(value: Mapping) -> Iterator[tuple[str, str]]:
    for key in value.entries:
        if key not in table().launchers and key != "instance_groups":
            yield f"distribution has no key '{key}', and the SDK ignores it", _meant(key, table().launchers)
    strategies = value.entries.get("smdistributed")
    for key in strategies.entries if isinstance(strategies, Mapping) else ():
        if key not in table().strategies:
            yield f"smdistributed has no strategy '{key}': a ValueError", _meant(key, table().strategies)


def _meant(key: str, known: frozenset[str]) -> str:
    import difflib  # noqa: PLC0415 - only a mistake needs it

    close = difflib.get_close_matches(key.replace("_", "").lower(), [k.replace("_", "") for k in known], 1, 0.75)
    names = [name for name in known if close and name.replace("_", "") == close[0]]
    return f"write '{names[0]}'" if names else "write one of " + ", ".join(sorted(known))


def _switches(estimator: Estimator) -> Iterator[tuple[str, str]]:
    for launcher in estimator.launchers():
        remedy = f"write {{\"enabled\": True}} under '{launcher.name.rpartition('.')[2]}'"
        if not isinstance(launcher.settings, Mapping):
            if isinstance(launcher.settings, (Number, Text)) or launcher.settings is NONE:
                yield f"'{launcher.name}' is given no dict", remedy
        elif "enabled" not in launcher.settings.entries:
            if launcher.settings.element is None and launcher.name != "smdistributed.modelparallel":
                yield f"'{launcher.name}' is not switched on: without 'enabled' the SDK leaves it off", remedy
        elif not _may_be_boolean(launcher.settings.entries["enabled"]):
            yield f"'enabled' of '{launcher.name}' is not a boolean", remedy


def _may_be_boolean(value: Value) -> bool:
    if isinstance(value, Number):
        return value.const is None or isinstance(value.const, bool)
    return not isinstance(value, Text) and value is not NONE


def _clashes(estimator: Estimator) -> Iterator[tuple[str, str]]:
    launchers = {launcher.name: launcher for launcher in estimator.launchers()}
    for first, second in combinations(launchers.values(), 2):
        if frozenset({first.name, second.name}) in TOGETHER or not _written_together(first, second, estimator):
            continue
        names = {first.name.partition(".")[0], second.name.partition(".")[0]}
        refused = estimator.kind == "pytorch" and names == {"pytorchddp", "smdistributed"}
        if refused or (first.enabled and second.enabled):
            effect = ": a ValueError" if refused else ", of which one alone runs"
            yield f"two launchers, '{first.name}' and '{second.name}'{effect}", "keep one of them"
    others = estimator.keys - {"torch_distributed", "instance_groups"}
    if estimator.trainium and others & table().launchers:
        yield f"'{min(others)}' on Trainium: a ValueError", "write 'torch_distributed', the only launcher there"


def _written_together(first: Launcher, second: Launcher, estimator: Estimator) -> bool:
    """Whether one dict display names both: what the branches of an `if` put together is not side by side."""
    wanted = {first.name.partition(".")[0], second.name.partition(".")[0]}
    displays = estimator.call.node.root().nodes_of_class(nodes.Dict)
    return any(wanted <= {key.value for key, _ in node.items if isinstance(key, nodes.Const)} for node in displays)


def _start(estimator: Estimator) -> Iterator[tuple[str, str]]:
    entry = estimator.text("entry_point")
    if "torch_distributed" in estimator.running() and entry is not None and not entry.endswith(".py"):
        yield f"'torch_distributed' starts Python files, not '{entry}': a ValueError", "name a .py file as entry_point"


def _alone(estimator: Estimator) -> bool:
    """Whether several instances run the entry script with nothing that tells them of each other."""
    entry = estimator.text("entry_point")
    if estimator.framework[0] != "pytorch" or estimator.instances < 2 or estimator.own_image():
        return False
    if entry is None or not entry.endswith(".py"):
        return False
    nothing = estimator.absent("distribution") or (
        estimator.distribution_is_certain
        and not estimator.open_distribution
        and all(launcher.enabled is False for launcher in estimator.launchers())
    )
    if not nothing or _old_compiler(estimator):
        return False
    script = estimator.script()
    return script is None or not any(mark in script.source for mark in DISPATCHES_ITSELF)


def _old_compiler(estimator: Estimator) -> bool:
    """Whether the Training Compiler starts the job by a launcher script, as it does before PyTorch 1.11."""
    version = estimator.framework[1]
    return not estimator.absent("compiler_config") and (version is None or numbers(version) < (1, 11))
