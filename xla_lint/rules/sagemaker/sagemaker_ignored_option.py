"""`xla-sagemaker-ignored-option`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.knowledge.sagemaker import MPI_LAUNCHERS
from xla_lint.program.domain.values import NONE, Mapping, Number, Text
from xla_lint.rules.base import Severity
from xla_lint.rules.sagemaker.base import EstimatorRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.rules.base import Finding
    from xla_lint.rules.sagemaker.estimator import Estimator

ALL_GATHER = "SMDATAPARALLEL_OPTIMIZE_SDP"


class SagemakerIgnoredOption(EstimatorRule):
    """An option of a launch script that nothing reads.

    ## What it does
    Finds `custom_mpi_options` under a launcher that does not run mpirun, and `SMDATAPARALLEL_OPTIMIZE_SDP` set to
    anything but the string `"true"` (or `"false"`, which switches it off). The finding stands at the estimator.

    ## Why it matters
    The SDK drops `custom_mpi_options` without a word unless the launcher is `mpi`, `smdistributed` or the PyTorch
    estimator's `pytorchddp`: the job runs with other settings than the script says. SMDDP's AllGather is switched on
    by the string `"true"`; with another value the job falls back to NCCL. Environment values that are not strings
    are refused by the service.

    ## What to write instead
    ```python
    PyTorch(
        ...,
        environment={"SMDATAPARALLEL_OPTIMIZE_SDP": "true", "NCCL_DEBUG": "INFO"},
        distribution={"smdistributed": {"dataparallel": {"enabled": True, "custom_mpi_options": "-verbose"}}},
    )
    ```

    What `-x NAME=value` would set for mpirun goes into `environment` under the other launchers.

    ## When it is fine
    Under a launcher that is switched off, and under the launchers that run mpirun.
    """

    symbol = "xla-sagemaker-ignored-option"
    number = "9792"
    severity = Severity.WARNING
    message = "%(option)s has no effect here: %(why)s; %(remedy)s"

    def check_estimator(self, estimator: Estimator) -> Iterator[Finding]:
        """Report options that are dropped."""
        launcher = _without_mpi(estimator)
        if launcher is not None:
            yield self.finding(
                estimator.call.node,
                option="custom_mpi_options",
                why=f"'{launcher}' does not run mpirun",
                remedy="set environment variables by environment=, or use an mpirun launcher",
            )
        elif _spoils_all_gather(estimator):
            yield self.finding(
                estimator.call.node,
                option=ALL_GATHER,
                why='SMDDP looks for the string "true"',
                remedy=f'write environment={{"{ALL_GATHER}": "true"}}',
            )


def _without_mpi(estimator: Estimator) -> str | None:
    for launcher in estimator.launchers():
        honoured = launcher.name in MPI_LAUNCHERS and (launcher.name != "pytorchddp" or estimator.kind == "pytorch")
        options = launcher.settings.entries if isinstance(launcher.settings, Mapping) else {}
        if launcher.enabled and "custom_mpi_options" in options and not honoured:
            return launcher.name
    return None


def _spoils_all_gather(estimator: Estimator) -> bool:
    environment = estimator.argument("environment")
    value = environment.entries.get(ALL_GATHER) if isinstance(environment, Mapping) else None
    if isinstance(value, Text):
        return value.const is not None and value.const not in ("true", "false")
    return value is NONE or (isinstance(value, Number) and value.const is not None)
