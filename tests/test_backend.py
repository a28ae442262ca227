"""Backends: one folder says how a lazy device is spelled, all else asks it; a new one takes a folder."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import concerns
from xla_lint.pages import family
from xla_lint.program.backend import (
    ASSUMED,
    BACKENDS,
    backend_named,
    backend_of,
    compiles_for_device,
    device_types,
    initialises,
    names,
    package_of,
    role_of,
    spelled,
)
from xla_lint.program.backend.aim import Aim
from xla_lint.program.backend.backend import Backend, Charge, Mode, Property, Role
from xla_lint.program.backend.torch_xla import names as torch_xla
from xla_lint.program.project.scope import NEWEST
from xla_lint.program.project.source import parse
from xla_lint.program.queries import Program
from xla_lint.rules import all_rules
from xla_lint.rules.barriers.missing_sync import MissingSync
from xla_lint.rules.precision.stale_optimizer import StaleOptimizer
from xla_lint.rules.reads.value_read import ValueRead

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "xla_lint"
GUIDE = re.compile(r"## Add a backend in one folder\n(.*?)\n## ", re.DOTALL)
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)

SPELLED = re.compile(
    r"torch_xla|neuronx|torchacc|xla_model|xla_device|\bx(?:[mrsp]|mp|ser)\.|_mp_fn|xla_spawn|mark_step|syncfree\.|PJRT_"
    r"|(?:Mp|Parallel|PerDevice)(?:Device)?Loader|Xla[A-Z]|optimum\.(?:neuron|tpu)|strategies\.xla|openxla"
    r"|^(?:xla|tpu|neuron)(?::\d+)?$|[\"'](?:xla|tpu|neuron)[\"':]"
)
"""How a text names a function, a package or a device of a backend."""
OWN = "xla_lint.program.backend.torch_xla"
RULES_OF_ONE_BACKEND = {
    "barriers/costly_collective.py": "what the collectives through the host do",
    "checkpoints/rank_divergence.py": "the last release in which a save waits for all replicas",
    "device/launch_arguments.py": "what launch and spawn accept",
    "device/missing_mp_fn.py": "the function that launchers of scripts call",
    "habits/syncfree_without_scaler.py": "optimizers without a read",
    "input/missing_sampler.py": "the mode in which one process feeds all devices",
    "precision/foreign_autocast.py": "the first release with an autocast of its own",
    "precision/foreign_grad_scaler.py": "its scaler",
    "precision/non_syncfree_optimizer.py": "optimizers without a read",
    "precision/replicas.py": "wrappers that reduce gradients",
    "precision/trainer_optimizer.py": "optimizers without a read",
    "sagemaker/sagemaker_compiler.py": "SageMaker's launcher calls the function for replicas",
}
"""The rules that take names from the folder of a backend, and why."""


def outside() -> list[Path]:
    """The modules that must not spell a backend's names."""
    files = [path for room in ("program", "rules") for path in sorted((PACKAGE / room).rglob("*.py"))]
    return [path for path in files if PACKAGE / "program" / "backend" not in path.parents]


def texts_in(source: str) -> Iterator[str]:
    """The texts of a module, docstrings left out."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose and isinstance(node.value, (str, bytes)):
            yield node.value if isinstance(node.value, str) else node.value.decode()


def imports_own(source: str) -> bool:
    """Whether a module imports the folder of a backend, which is what its code can name of it."""
    return any(
        (node.module or "").startswith(OWN) or any(f"{node.module}.{alias.name}" == OWN for alias in node.names)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
    )


@pytest.mark.parametrize("path", outside(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_else_spells_a_name_of_a_backend(path: Path) -> None:
    assert not [text for text in texts_in(path.read_text(encoding="utf-8")) if SPELLED.search(text)]


def test_few_rules_are_about_one_backend() -> None:
    own = {path for path in outside() if imports_own(path.read_text(encoding="utf-8"))}
    assert {path.relative_to(PACKAGE / "rules").as_posix() for path in own} == RULES_OF_ONE_BACKEND.keys()


def test_a_spelled_name_is_seen() -> None:
    seen = [
        "xm.mark_step()",
        "import torch_xla",
        "xla",
        "xla:0",
        'autocast("xla")',
        "MpDeviceLoader",
        "optimum.neuron.",
    ]
    assert all(SPELLED.search(text) for text in seen)
    assert not any(SPELLED.search(text) for text in ["needs_xla", "on an XLA machine", "xla-value-read", "exam.py"])
    assert list(texts_in('"""torch_xla"""\nx = "torch_xla"')) == ["torch_xla"]
    assert imports_own(f"from {OWN} import names")
    assert imports_own("from xla_lint.program.backend import torch_xla")
    assert not imports_own("from xla_lint.program.backend import names")


class TestABackend:
    def test_tells_the_role_of_a_function(self) -> None:
        assert role_of("torch_xla.sync") is role_of(torch_xla.XLA_MODEL + "mark_step") is Role.BARRIER
        assert role_of("torch.save") is role_of("torch_xla.something") is None
        assert "torch_xla.sync" in names(Role.BARRIER)
        assert set(names(Role.BARRIER, Role.SAVE)) == {*names(Role.BARRIER), *names(Role.SAVE)}

    def test_has_one_role_for_a_name(self) -> None:
        every = [name for backend in BACKENDS for role in Role for name in backend.names(role)]
        assert len(every) == len(set(every))

    def test_owns_its_kin(self) -> None:
        assert backend_of("torch_xla.anything.at_all") is backend_of("neuronx_distributed.trainer") is ASSUMED
        assert backend_of("optimum.neuron.NeuronTrainer") is ASSUMED
        assert backend_of("torch.nn.Linear") is backend_of("optimum.bettertransformer") is None
        assert package_of("torch_xla.sync") == "torch_xla"
        assert package_of("neuronx_distributed.trainer") is None

    def test_spells_what_programs_call(self) -> None:
        assert spelled(torch_xla.XLA_MODEL + "mark_step") == "xm.mark_step"
        assert spelled("torch_xla.runtime.world_size") == "xr.world_size"
        assert spelled("torch_xla.sync") == "torch_xla.sync"
        assert spelled("torch.distributed.all_reduce") == "torch.distributed.all_reduce"

    def test_spells_by_release_what_messages_recommend(self) -> None:
        spellings = [ASSUMED.write(Role.BARRIER, release) for release in ((1, 13), (2, 3), (2, 4), (2, 9))]
        assert spellings == ["xm.mark_step()", "xm.mark_step()", "torch_xla.sync()", "torch_xla.sync()"]

    def test_knows_its_devices_and_compilers(self) -> None:
        assert device_types(ASSUMED) == {"xla"}
        assert device_types(backend_named("torch_tpu")) == {"tpu", "xla"}
        assert compiles_for_device("openxla")
        assert not compiles_for_device("inductor")

    def test_says_what_starts_its_runtime(self) -> None:
        assert initialises("torch_xla.device", (2, 9))
        assert not initialises("torch.device", (2, 9))

    @pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
    def test_holds_a_mark_of_all_that_it_is_known_by(self, backend: Backend) -> None:
        known = [*backend.packages, *backend.modules, *filter(None, [backend.replica_function])]
        assert all(any(mark in name for mark in backend.marks) for name in known)

    def test_charges_what_its_default_mode_charges(self) -> None:
        charges = {Mode.FUSED: Charge.CUTS, Mode.COMPILED: Charge.BREAKS}
        assert Backend("gizmo", "gizmo", charges, functions={}, written={}).charge is Charge.CUTS
        assert ASSUMED.charge is Charge.EXECUTES

    def test_concerns_the_rules_that_hold_in_its_mode_and_speak_of_what_it_has(self) -> None:
        replaces = frozenset({Property.REPLACES_PARAMETERS})
        eager = Backend("gizmo", "gizmo", {Mode.EAGER: Charge.WAITS}, functions={}, written={})
        lazy = Backend("gizmo", "gizmo", {Mode.LAZY: Charge.EXECUTES}, functions={}, written={}, properties=replaces)
        programs = [program_for(backend) for backend in (eager, lazy, ASSUMED)]
        assert [concerns(ValueRead, program.backend, program.modes) for program in programs] == [True, True, True]
        assert [concerns(StaleOptimizer, program.backend, program.modes) for program in programs] == [False, True, True]
        assert [concerns(MissingSync, program.backend, program.modes) for program in programs] == [False, False, True]
        native = {rule.symbol for rule in all_rules() if family(rule) == "compile"} | {
            "xla-device-index",
            "xla-migrate",
        }
        assumed = program_for(ASSUMED)
        silent = {rule.symbol for rule in all_rules() if not concerns(rule, assumed.backend, assumed.modes)}
        assert silent == native

    def test_may_lack_what_another_has(self) -> None:
        bare = Backend("gizmo", "gizmo", {Mode.EAGER: Charge.WAITS}, functions={}, written={})
        assert bare.has()
        assert not bare.has(Role.BARRIER)
        assert ASSUMED.has(Role.BARRIER, Role.AUTOCAST)
        with pytest.raises(KeyError):
            bare.write(Role.BARRIER, (2, 9))


def program_for(backend: Backend) -> Program:
    return Program(parse("", Path("empty.py")), NEWEST, aim=Aim(backend), mode=backend.mode)


@pytest.fixture(scope="module")
def shown() -> tuple[str, str]:
    section = GUIDE.search((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert section is not None
    folder, program = BLOCK.findall(section[1])
    return folder, program


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, root / "xla_lint", ignore=shutil.ignore_patterns("__pycache__"))
    return root


class TestTheBackendInTheGuide:
    """The worked example of CONTRIBUTING: a folder in a copy of the package, and a program that it enables."""

    @pytest.fixture
    def checked(self, copy: Path, tmp_path: Path) -> Iterator[Checker]:
        yield Checker(copy, tmp_path)
        shutil.rmtree(copy / FOLDER, ignore_errors=True)

    def test_it_enables_the_finding_and_no_other(self, shown: tuple[str, str], checked: Checker) -> None:
        checked.add(shown[0])
        found = checked.findings(shown[1])
        assert {(line, symbol) for line, symbol, _ in found} == expected(shown[1])
        assert all("the host waits for the device every step; keep it on the device" in text for *_, text in found)

    def test_a_program_whose_helper_names_the_device_is_for_it(self, shown: tuple[str, str], checked: Checker) -> None:
        checked.add(shown[0])
        helper = checked.program.with_name("helper.py")
        helper.write_text('import torch\ndevice = torch.device("gizmo")\n', encoding="utf-8")
        found = checked.findings(shown[1].replace('device = torch.device("gizmo")', "from helper import device"))
        assert {(line, symbol) for line, symbol, _ in found} == expected(shown[1])
        assert all("the host waits for the device every step" in text for *_, text in found)

    def test_a_text_that_names_no_device_is_no_program_for_it(self, shown: tuple[str, str], checked: Checker) -> None:
        checked.add(shown[0])
        assert not checked.findings("print('gizmo')\n" + shown[1].replace('torch.device("gizmo")', "pick()"))

    def test_without_it_nothing_is_found(self, shown: tuple[str, str], checked: Checker) -> None:
        assert not checked.findings(shown[1])

    @pytest.mark.parametrize(
        ("charges", "words"),
        [
            ("Mode.FUSED: Charge.CUTS", "the fused group of operations ends there every step"),
            ("Mode.LAZY: Charge.EXECUTES", "every step executes all that was recorded"),
        ],
    )
    def test_a_read_costs_what_the_mode_charges(
        self, shown: tuple[str, str], checked: Checker, charges: str, words: str
    ) -> None:
        checked.add(
            shown[0]
            .replace("{Mode.EAGER: Charge.WAITS, ", "{" + charges + ", ")
            .replace(", Mode.COMPILED: Charge.BREAKS}", "}")
        )
        [(_, symbol, text)] = checked.findings(shown[1])
        assert symbol == "xla-value-read"
        assert words in text

    def test_a_program_of_another_backend_stays_one(self, shown: tuple[str, str], checked: Checker) -> None:
        checked.add(shown[0])
        program = "import torch_xla\n" + shown[1].replace('torch.device("gizmo")', "torch_xla.device()")
        other = program.replace('== "gizmo"', '== "xla"')
        assert [symbol for _, symbol, _ in checked.findings(program)] == ["xla-missing-sync"]
        assert {symbol for _, symbol, _ in checked.findings(other)} == {"xla-missing-sync", "xla-value-read"}


FOLDER = Path("xla_lint", "program", "backend", "torch_gizmo")


class Checker:
    """Runs a copy of the command on a program in a folder of its own."""

    def __init__(self, copy: Path, project: Path) -> None:
        self.copy = copy
        self.program = project / "train.py"

    def add(self, source: str) -> None:
        """Add the folder of a backend to the copy."""
        (self.copy / FOLDER).mkdir()
        (self.copy / FOLDER / "__init__.py").write_text(source, encoding="utf-8")

    def findings(self, source: str) -> list[tuple[int, str, str]]:
        """Line, symbol and message of each finding, advice included."""
        self.program.write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "xla_lint", "check", "--no-cache", "--format=json", "--enable=all"]
        run = subprocess.run(
            [*command, str(self.program)],
            cwd=self.program.parent,
            env={**os.environ, "PYTHONPATH": str(self.copy)},
            capture_output=True,
            text=True,
            check=False,
        )
        report = json.loads(run.stdout)
        assert not report["problems"], report["problems"]
        return [(found["line"], found["symbol"], found["message"]) for found in report["findings"]]
