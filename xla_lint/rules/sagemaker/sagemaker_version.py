"""`xla-sagemaker-version`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.knowledge.sagemaker import numbers, table
from xla_lint.program.domain.events import LibraryCall
from xla_lint.rules.base import Severity
from xla_lint.rules.sagemaker.base import EstimatorRule
from xla_lint.rules.sagemaker.estimator import removed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding
    from xla_lint.rules.sagemaker.estimator import Estimator

REQUIRED = {
    "pytorch": ("framework_version", "py_version"),
    "tensorflow": ("framework_version", "py_version"),
    "huggingface": ("transformers_version", "py_version"),
}
"""What must be given where `image_uri` is not."""


class SagemakerVersion(EstimatorRule):
    """Versions that do not go together: no image holds them, or the launcher refuses them.

    ## What it does
    Finds estimators without `image_uri` whose versions are missing, for which no training image exists, whose Python
    version the image does not have, or which SMDDP or `torch_distributed` refuses. Where the project's dependencies
    ask for `sagemaker` 3, it finds every estimator: that release has none. The finding stands at the estimator.

    ## Why it matters
    A missing version and one that the launcher refuses end in a ValueError when the estimator is built. A combination
    without an image is noticed later, at `fit()`. The lists are not alike: `torch_distributed` takes 2.4.1, for which
    there is no image, and there is an image for 2.4.0, which `torch_distributed` refuses. Short forms such as `"2.0"`
    name an image, but no launcher takes them.

    ## What to write instead
    Full versions from one row of the table of images:

    ```python
    PyTorch(..., framework_version="2.0.1", py_version="py310")
    HuggingFace(..., transformers_version="4.28.1", pytorch_version="2.0.0", py_version="py310")
    ```

    SMDDP ends at PyTorch 2.2.0 and TensorFlow 2.11.0. With `sagemaker` 3 use `ModelTrainer` with
    `distributed=Torchrun()` or `MPI()`, or pin `sagemaker<3`.

    ## When it is fine
    With `image_uri` the versions are those of the image. Versions newer than the newest one that xla-lint knows are
    not judged.
    """

    symbol = "xla-sagemaker-version"
    number = "9794"
    severity = Severity.ERROR
    message = "%(problem)s; %(remedy)s"

    def check(self, event: Event) -> Iterator[Finding]:
        """Report versions that do not go together."""
        if isinstance(event, LibraryCall) and removed(self.program):
            yield self.finding(
                event.node,
                problem=f"{event.name} was removed in sagemaker 3, which this project asks for",
                remedy="use sagemaker.train.ModelTrainer, with distributed=Torchrun() or MPI(), or pin sagemaker<3",
            )
        else:
            yield from super().check(event)

    def check_estimator(self, estimator: Estimator) -> Iterator[Finding]:
        """Report versions that no image holds, or that a launcher refuses."""
        if estimator.own_image():
            return
        found = next(_problems(estimator), None)
        if found is not None:
            yield self.finding(estimator.call.node, problem=found[0], remedy=found[1])


def _problems(estimator: Estimator) -> Iterator[tuple[str, str]]:
    missing = [name for name in REQUIRED[estimator.kind] if estimator.absent(name)]
    if missing:
        text = " and ".join(missing)
        yield f"without image_uri the estimator needs {text}: a ValueError", f"pass {text}"
    if estimator.kind == "huggingface":
        yield from _pair(estimator)
    if estimator.absent("compiler_config"):
        yield from _refused(estimator)
        yield from no_image(estimator, estimator.kind)


def _pair(estimator: Estimator) -> Iterator[tuple[str, str]]:
    below = ("pytorch_version", "tensorflow_version")
    if all(estimator.absent(name) for name in below):
        yield "neither pytorch_version nor tensorflow_version is given: a ValueError", "pass one of them"
    own, (_, version) = estimator.text("transformers_version"), estimator.framework
    if own is not None and version is not None and own.count(".") != version.count("."):
        yield f"'{own}' and '{version}' are not of one length: a ValueError", "write full versions"


def _refused(estimator: Estimator) -> Iterator[tuple[str, str]]:
    framework, version = estimator.framework
    if version is None or numbers(version) > table().newest(framework):
        return
    running = estimator.running()
    if "smdistributed.dataparallel" in running and version not in table().data_parallel_versions[framework]:
        yield _launcher("SMDDP", framework, version, table().data_parallel_versions[framework])
    if "torch_distributed" in running and framework == "pytorch" and estimator.family:
        known = table().torch_distributed["trainium" if estimator.trainium else "gpu"]
        if version not in known:
            yield _launcher("torch_distributed", framework, version, known)


def _launcher(launcher: str, framework: str, version: str, known: frozenset[str]) -> tuple[str, str]:
    nearest = min(known, key=lambda other: (_distance(other, version), other))
    return f"{launcher} does not take {framework} {version}: a ValueError", f"use {nearest}"


def _distance(one: str, other: str) -> tuple[int, ...]:
    pairs = zip((*numbers(one), 0, 0, 0)[:3], (*numbers(other), 0, 0, 0)[:3], strict=True)
    return tuple(abs(a - b) for a, b in pairs)


def no_image(estimator: Estimator, images: str) -> Iterator[tuple[str, str]]:
    """Why no training image of a kind holds the estimator's versions, with the remedy."""
    known = table().images[images]
    own = estimator.text("transformers_version" if estimator.kind == "huggingface" else "framework_version")
    if own is None or numbers(own) > table().newest(images) or estimator.trainium or _has_own_images(estimator):
        return
    if own not in known:
        nearest = min(known, key=lambda other: (_distance(other, own), -len(other)))
        yield f"no training image has {_named(estimator)} {own}: a ValueError at fit()", f"use {nearest}"
        return
    framework, version = estimator.framework
    below = f"{framework}{version}" if estimator.kind == "huggingface" else ""
    if estimator.kind == "huggingface" and version is None:
        return
    if below not in known[own]:
        full = max((name for name in known[own] if name.startswith(framework)), key=len, default="")
        yield (
            f"no training image has transformers {own} with {framework} {version}: a ValueError at fit()",
            f"use {full.removeprefix(framework)}" if full else "use another framework",
        )
        return
    python, pythons = estimator.text("py_version"), known[own][below]
    if python is not None and python not in pythons:
        yield (
            f"the image of {_named(estimator)} {own} has no {python}: a ValueError at fit()",
            "use " + " or ".join(pythons),
        )


def _named(estimator: Estimator) -> str:
    return "transformers" if estimator.kind == "huggingface" else estimator.kind


def _has_own_images(estimator: Estimator) -> bool:
    """Model parallelism under torchrun has images of its own."""
    return {"torch_distributed", "smdistributed"} <= estimator.keys
