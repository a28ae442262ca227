"""`xla-sagemaker-compiler`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.knowledge.sagemaker import numbers, table
from xla_lint.program.backend.torch_xla.names import ENTRY
from xla_lint.program.domain.values import Instance, Mapping
from xla_lint.rules.base import Severity
from xla_lint.rules.sagemaker.base import EstimatorRule
from xla_lint.rules.sagemaker.sagemaker_version import no_image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.rules.base import Finding
    from xla_lint.rules.sagemaker.estimator import Estimator

XLA_LAUNCHER_SINCE = {"pytorch": (1, 12), "huggingface": (1, 11)}
"""The PyTorch release from which the compiler is launched by `pytorchxla`, by estimator (`TrainingCompilerConfig`)."""


class SagemakerCompiler(EstimatorRule):
    """A Training Compiler job that is refused, or that does not compile.

    ## What it does
    Finds estimators with a `compiler_config` that comes from another estimator's package or is no
    `TrainingCompilerConfig`, that also have `image_uri`, `instance_groups` or `smdistributed`, whose versions the
    compiler has no image for, or whose launcher is not the one of that version: `pytorchxla` from PyTorch 1.12
    (`HuggingFace`: 1.11) on, a launcher script as the entry point before. It also finds `pytorchxla` without
    the compiler, and an entry script for `pytorchxla` that defines no `_mp_fn`. The finding stands at the estimator.

    ## Why it matters
    Most of these end in a ValueError when the estimator is built or at `fit()`. Without the launcher script, which the
    SDK does not ask for, an old job runs on one GPU of many. Without `_mp_fn` every process ends in an AttributeError
    once the instances are up.

    ## What to write instead
    ```python
    HuggingFace(
        ...,
        transformers_version="4.21.1",
        pytorch_version="1.11.0",
        py_version="py38",
        compiler_config=TrainingCompilerConfig(),
        distribution={"pytorchxla": {"enabled": True}},
    )
    ```

    For Transformers 4.17 and older make the launcher script the `entry_point`, leave `distribution` out, and name the
    training script in `hyperparameters={"training_script": "run_glue.py", ...}`. The compiler gets no new releases:
    PyTorch 1.13.1 and Transformers 4.21.1 are the last.

    ## When it is fine
    One instance with one GPU needs no launcher.
    """

    symbol = "xla-sagemaker-compiler"
    number = "9795"
    severity = Severity.ERROR
    message = "the Training Compiler does not take this estimator: %(problem)s; %(remedy)s"

    def check_estimator(self, estimator: Estimator) -> Iterator[Finding]:
        """Report estimators that the compiler refuses or does not compile."""
        found = next(_problems(estimator), None)
        if found is not None:
            yield self.finding(estimator.call.node, problem=found[0], remedy=found[1])


def _problems(estimator: Estimator) -> Iterator[tuple[str, str]]:
    if estimator.absent("compiler_config"):
        if "pytorchxla" in estimator.keys and not estimator.trainium and estimator.kind != "tensorflow":
            yield (
                "distribution={'pytorchxla': ...} without compiler_config: a ValueError",
                "pass compiler_config=TrainingCompilerConfig()",
            )
        return
    yield from _wrong_config(estimator)
    if estimator.compiler is None:
        return
    yield from _company(estimator)
    yield from _launcher(estimator)
    yield from _images(estimator)
    yield from _entry(estimator)


def _wrong_config(estimator: Estimator) -> Iterator[tuple[str, str]]:
    value = estimator.argument("compiler_config")
    package = estimator.call.name.rpartition(".")[0]
    right = f"pass {package}.TrainingCompilerConfig()"
    if isinstance(value, Mapping):
        yield "compiler_config is a dict: a ValueError", right
    elif isinstance(value, Instance) and estimator.compiler is not None and not value.library.startswith(package):
        yield f"compiler_config is of {value.library.rpartition('.')[0]}: a ValueError", right


def _company(estimator: Estimator) -> Iterator[tuple[str, str]]:
    keys = estimator.keys & ({"smdistributed", "pytorchddp"} if estimator.kind == "pytorch" else {"smdistributed"})
    if keys and estimator.distribution_is_certain:
        yield f"distribution={{'{min(keys)}': ...}} beside the compiler: a ValueError", "use 'pytorchxla'"
    for name, instead in (("image_uri", "the versions"), ("instance_groups", "instance_type and instance_count")):
        if not estimator.absent(name) and estimator.argument(name) is not None:
            yield f"{name} beside the compiler: a ValueError", f"pass {instead} instead"


def _launcher(estimator: Estimator) -> Iterator[tuple[str, str]]:
    framework, version = estimator.framework
    if estimator.kind == "tensorflow" or version is None:
        return
    if framework == "tensorflow":
        if "pytorchxla" in estimator.running():
            yield "'pytorchxla' with TensorFlow: a ValueError", "leave distribution out"
        return
    since = XLA_LAUNCHER_SINCE[estimator.kind]
    first = ".".join(map(str, since))
    if numbers(version) < since:
        script = "make the launcher script the entry_point and name the training script in hyperparameters"
        if "pytorchxla" in estimator.running():
            yield f"'pytorchxla' starts at PyTorch {first}, this is {version}: a ValueError", script
        elif _several_processes(estimator) and _names_no_training_script(estimator):
            yield f"PyTorch {version} on several GPUs without the launcher script: one GPU is used", script
    elif estimator.keys and "pytorchxla" not in estimator.keys and not estimator.open_distribution:
        yield f"'{min(estimator.keys)}' launches PyTorch {version}: a ValueError", "use 'pytorchxla'"


def _several_processes(estimator: Estimator) -> bool:
    return estimator.instances > 1 or estimator.text("instance_type") in table().several_gpus


def _names_no_training_script(estimator: Estimator) -> bool:
    if estimator.absent("hyperparameters"):
        return True
    value = estimator.argument("hyperparameters")
    return isinstance(value, Mapping) and value.element is None and "training_script" not in value.entries


def _images(estimator: Estimator) -> Iterator[tuple[str, str]]:
    if estimator.kind == "tensorflow":
        return
    images = f"{estimator.kind}-training-compiler"
    newest = max(table().images[images], key=lambda known: (numbers(known), len(known)))
    own = estimator.text("framework_version" if estimator.kind == "pytorch" else "transformers_version")
    if own is not None and numbers(own) > table().newest(images):
        yield f"{own} is newer than its last release: a ValueError", f"use {newest}, or leave the compiler out"
    yield from no_image(estimator, images)


def _entry(estimator: Estimator) -> Iterator[tuple[str, str]]:
    written = estimator.text("entry_point")
    if "pytorchxla" not in estimator.running() or written is None:
        return
    if not written.endswith(".py"):
        yield f"'pytorchxla' imports the entry point, and '{written}' is not a Python file", "name a .py file"
        return
    script = estimator.script()
    if script is not None and not script.may_define(ENTRY):
        yield f"'{written}' defines no {ENTRY}(index), which 'pytorchxla' calls", "define it, and let it call main()"
