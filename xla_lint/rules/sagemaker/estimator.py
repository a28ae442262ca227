"""An estimator of SageMaker's Python SDK 2, as a launch script builds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xla_lint.knowledge.sagemaker import table
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import NONE, Instance, Mapping, Number, options
from xla_lint.rules.arguments import constant, stated_text

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.program.queries import Program, Script

PARAMETERS = {
    "pytorch": (
        "entry_point framework_version py_version source_dir hyperparameters image_uri distribution compiler_config"
    ).split(),
    "huggingface": (
        "py_version entry_point transformers_version tensorflow_version pytorch_version source_dir hyperparameters "
        "image_uri distribution compiler_config"
    ).split(),
    "tensorflow": "py_version framework_version model_dir image_uri distribution compiler_config".split(),
}
"""The parameters of each estimator, in the order of the SDK's signatures."""
ESTIMATORS = {
    "sagemaker.pytorch.PyTorch": "pytorch",
    "sagemaker.huggingface.HuggingFace": "huggingface",
    "sagemaker.tensorflow.TensorFlow": "tensorflow",
}

AT_LEAST = ("==", "~=", ">=", ">")
"""The operators that admit nothing older."""


class Launcher(NamedTuple):
    """One launcher that `distribution` names."""

    name: str
    """Its key; the strategies of `smdistributed` are spelled `smdistributed.dataparallel`."""
    settings: Value
    """What stands under the key."""

    @property
    def enabled(self) -> bool | None:
        """Whether it is switched on; None where that cannot be told."""
        if not isinstance(self.settings, Mapping):
            return None
        value = self.settings.entries.get("enabled")
        if value is None:
            return False if self.settings.element is None else None
        known = constant(value)
        return bool(known) if known is not None else None


class Estimator(NamedTuple):
    """The arguments of one estimator."""

    kind: str
    """`pytorch`, `huggingface` or `tensorflow`."""
    call: LibraryCall
    program: Program

    def argument(self, name: str) -> Value | None:
        """The value of an argument, None where it is not given."""
        parameters = PARAMETERS[self.kind]
        return self.call.argument(parameters.index(name) if name in parameters else -1, name)

    def text(self, name: str) -> str | None:
        """A text that the source states, else None."""
        return stated_text(self.argument(name))

    def absent(self, name: str) -> bool:
        """True where an argument is surely not given, or None."""
        value = self.argument(name)
        return value is NONE or (value is None and not self.call.unpacked)

    def own_image(self) -> bool:
        """True where the image may be the user's own, so that nothing is known about it."""
        return not self.absent("image_uri") or not self.absent("training_recipe")

    @property
    def instances(self) -> int:
        """How many instances the source asks for, 0 where it does not say."""
        value = self.argument("instance_count")
        return value.const if isinstance(value, Number) and isinstance(value.const, int) else 0

    @property
    def family(self) -> str:
        """The family of the instance type, say `p4d`; `local` or `local_gpu` on the user's own machine; else empty."""
        written = self.text("instance_type") or ""
        parts = written.split(".")
        if parts[0] == "ml" and len(parts) == 3:
            return parts[1]
        return written if written in ("local", "local_gpu") else ""

    @property
    def trainium(self) -> bool:
        """True on Trainium."""
        return self.family.startswith("trn")

    @property
    def framework(self) -> tuple[str, str | None]:
        """The framework, `pytorch` or `tensorflow`, and its version where the source says so."""
        if self.kind != "huggingface":
            return self.kind, self.text("framework_version")
        if self.text("tensorflow_version") is not None:
            return "tensorflow", self.text("tensorflow_version")
        return "pytorch", self.text("pytorch_version")

    @property
    def distribution(self) -> Mapping | None:
        """What `distribution` holds, where that is a dict on some path and no other dict on another one."""
        found = [o for o in options(self.argument("distribution") or NONE) if isinstance(o, Mapping)]
        return found[0] if len(found) == 1 else None

    @property
    def distribution_is_certain(self) -> bool:
        """Whether `distribution` is a dict on every path."""
        return self.distribution is not None and self.distribution is self.argument("distribution")

    @property
    def open_distribution(self) -> bool:
        """Whether `distribution` may hold keys that the source does not show."""
        return self.distribution is None or self.distribution.element is not None

    @property
    def keys(self) -> frozenset[str]:
        """The keys of `distribution`."""
        return frozenset(self.distribution.entries) if self.distribution is not None else frozenset()

    def launchers(self) -> list[Launcher]:
        """The launchers that `distribution` names, whether they are switched on or not."""
        found: list[Launcher] = []
        for key, value in (self.distribution.entries if self.distribution is not None else {}).items():
            if key == "smdistributed" and isinstance(value, Mapping):
                strategies = value.entries.items()
                found += (Launcher(f"{key}.{name}", inner) for name, inner in strategies if name in table().strategies)
            elif key in table().launchers:
                found.append(Launcher(key, value))
        return found

    def running(self) -> frozenset[str]:
        """The launchers that are switched on; the PyTorch estimator takes `pytorchddp` for SMDDP."""
        on = {launcher.name for launcher in self.launchers() if launcher.enabled}
        if self.kind == "pytorch" and "pytorchddp" in on:
            on.add("smdistributed.dataparallel")
        return frozenset(on)

    @property
    def compiler(self) -> Instance | None:
        """The Training Compiler's configuration, where the estimator surely has one."""
        value = self.argument("compiler_config")
        known = isinstance(value, Instance) and value.library.endswith(".TrainingCompilerConfig")
        return value if known and isinstance(value, Instance) else None

    def script(self) -> Script | None:
        """The entry script, where it lies beside the launch script or in the project."""
        written, folder = self.text("entry_point"), self.text("source_dir")
        if written is None or (folder is None and not self.absent("source_dir")):
            return None
        return self.program.script(f"{folder}/{written}" if folder else written, self.call.node)


def estimator_of(event: Event, program: Program) -> Estimator | None:
    """The estimator that a call builds; None for other events, and where SDK 3 is declared, which has no estimator."""
    if not isinstance(event, LibraryCall) or event.name not in ESTIMATORS or removed(program):
        return None
    return Estimator(ESTIMATORS[event.name], event, program)


def removed(program: Program) -> bool:
    """Whether the project declares SDK 3, which has no estimators."""
    clauses = [clause for asked in program.requirements("sagemaker") for clause in asked]
    return any(clause.operator in AT_LEAST and int(clause.version.partition(".")[0]) >= 3 for clause in clauses)
