"""`xla-sagemaker-requirements`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xla_lint.knowledge.sagemaker import NOT_IN_COMPILER_IMAGE, NOT_IN_IMAGE
from xla_lint.rules.base import Confidence, Severity
from xla_lint.rules.sagemaker.base import EstimatorRule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from xla_lint.program.queries import Script
    from xla_lint.rules.base import Finding
    from xla_lint.rules.sagemaker.estimator import Estimator


class SagemakerRequirements(EstimatorRule):
    """The entry script imports what the training image does not hold.

    ## What it does
    Looks into the entry script, and into the modules beside it that it imports, where they can be found: relative to
    the launch script, or to the project's root. Finds imports of Lightning and its kin, and of Transformers under the
    PyTorch image of the Training Compiler, that no `requirements.txt` in `source_dir` installs. The finding stands at
    the estimator.

    ## Why it matters
    Only `source_dir` is uploaded, and only a `requirements.txt` in it is installed before the script starts. Without
    it the job ends in a ModuleNotFoundError, after the instances were started.

    ## What to write instead
    ```text
    src/
        train.py
        requirements.txt      # pytorch-lightning
    ```

    ```python
    PyTorch(..., entry_point="train.py", source_dir="src")
    ```

    ## When it is fine
    The script installs the package itself, imports it in a `try`, or brings it along in `source_dir`; the image is
    your own (`image_uri`); or `dependencies=` or `git_config=` may bring the file. All these are left alone.
    """

    symbol = "xla-sagemaker-requirements"
    number = "9796"
    severity = Severity.WARNING
    message = "'%(script)s' imports %(package)s, which the training image lacks, and %(why)s; %(remedy)s"

    def check_estimator(self, estimator: Estimator) -> Iterator[Finding]:
        """Report entry scripts whose packages nobody installs."""
        if estimator.kind == "tensorflow" or estimator.own_image():
            return
        if not all(estimator.absent(name) for name in ("dependencies", "git_config")):
            return
        script = estimator.script()
        if script is None or b"pip" in script.source:
            return
        wanted = _missing(estimator, script)
        if wanted:
            folder = estimator.text("source_dir")
            package, importer = next(iter(wanted.items()))
            listed = ", ".join(sorted(wanted))
            yield self.finding(
                estimator.call.node,
                Confidence.INFERENCE,
                script=importer.name,
                package=package,
                why=_why(estimator, script),
                remedy=f"list {listed} in a requirements.txt in {folder or 'a folder, and pass it as source_dir'}",
            )


def _missing(estimator: Estimator, script: Script) -> dict[str, Path]:
    """The distributions to install that nothing installs, each with the file that needs it."""
    lacking = dict(NOT_IN_IMAGE)
    if estimator.kind == "pytorch" and estimator.compiler is not None:
        lacking.update(NOT_IN_COMPILER_IMAGE)
    wanted = {lacking[name]: path for name, path in script.packages().items() if name in lacking}
    if not wanted or not estimator.text("source_dir"):
        return wanted
    listed = estimator.program.beside(script, "requirements.txt")
    if listed is None:
        return wanted
    text = listed.decode("utf-8", "replace")
    lines = [re.sub("[-_.]+", "-", line.partition("#")[0]).lower().strip() for line in text.splitlines()]
    if any(line.startswith("-") for line in lines):
        return {}
    return {name: path for name, path in wanted.items() if not any(name in line for line in lines)}


def _why(estimator: Estimator, script: Script) -> str:
    folder = estimator.text("source_dir")
    if folder:
        return (
            f"the requirements.txt of '{folder}' does not list it"
            if estimator.program.beside(script, "requirements.txt") is not None
            else f"'{folder}' has no requirements.txt"
        )
    return "source_dir is not passed, so no requirements.txt is uploaded"
