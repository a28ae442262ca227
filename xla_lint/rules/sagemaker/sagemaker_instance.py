"""`xla-sagemaker-instance`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.knowledge.sagemaker import table
from xla_lint.rules.base import Severity
from xla_lint.rules.sagemaker.base import EstimatorRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.rules.base import Finding
    from xla_lint.rules.sagemaker.estimator import Estimator


class SagemakerInstance(EstimatorRule):
    """An instance type on which the launcher or the compiler does not run.

    ## What it does
    Finds estimators with SMDDP (`smdistributed.dataparallel`, or the PyTorch estimator's `pytorchddp`), with the
    Training Compiler or with `torch_distributed`, whose `instance_type` is written in the source and is not one of
    those that it supports. The finding stands at the estimator.

    ## Why it matters
    The SDK knows which types SMDDP supports and does not look: the job is submitted, instances are billed, and the
    library ends it. The other two end in a ValueError when the estimator is built.

    ## What to write instead
    SMDDP runs on `ml.p4d.24xlarge` and `ml.p4de.24xlarge`; its older releases on `ml.p3.16xlarge` and
    `ml.p3dn.24xlarge` too. On other GPU instances use `torch_distributed`. The Training Compiler runs on the families
    p3, p3dn, g4dn, p4d and g5.

    ## When it is fine
    `torch_distributed` runs on every GPU instance, and on Trainium. Beside it SMDDP is accepted on p5.
    """

    symbol = "xla-sagemaker-instance"
    number = "9793"
    severity = Severity.ERROR
    message = "%(what)s does not run on '%(type)s': %(effect)s; use %(types)s"

    def check_estimator(self, estimator: Estimator) -> Iterator[Finding]:
        """Report instance types that are not supported."""
        written = estimator.text("instance_type")
        if written is None or not estimator.family:
            return
        refusal = _refusal(estimator, written)
        if refusal is not None:
            what, effect, types = refusal
            yield self.finding(estimator.call.node, what=what, type=written, effect=effect, types=types)


def _refusal(estimator: Estimator, written: str) -> tuple[str, str, str] | None:
    running, known = estimator.running(), table()
    if estimator.compiler is not None:
        if estimator.family == "local_gpu" or estimator.family in known.compiler_families:
            return None
        families = "an instance of the families " + ", ".join(sorted(known.compiler_families))
        return "the Training Compiler", "a ValueError", families
    if "smdistributed.dataparallel" in running and "torch_distributed" not in running:
        if written in known.data_parallel_instances or estimator.trainium:
            return None
        types = sorted(name for name in known.data_parallel_instances if name.startswith("ml.p4"))
        effect = "a ValueError at fit()" if written == "ml.p5.48xlarge" else "the job fails once it has started"
        return "SMDDP", effect, " or ".join(types) + ", or the launcher torch_distributed"
    if "torch_distributed" in running and estimator.absent("image_uri"):
        if estimator.family.startswith(("p", "g", "trn")) or written == "local_gpu":
            return None
        return "torch_distributed", "a ValueError", "a GPU or Trainium instance"
    return None
