"""Who asks a framework for XLA, or has code of its own for it, and what only looks like that."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from xla_lint.program.project.launches import launched_in
from xla_lint.program.project.requests import Requests, may_request, requests_in

L = "import lightning as L\n"
T = "from transformers import Trainer, TrainingArguments\n"
A = "from accelerate import Accelerator, DistributedType\naccelerator = Accelerator()\n"
OPTION = L + "import argparse\nparser = argparse.ArgumentParser()\n"

ASKS = {
    "a text": L + "L.Trainer(accelerator='tpu')",
    "in capitals": L + "L.Trainer(accelerator='TPU')",
    "a strategy": L + "L.Trainer(strategy='xla_fsdp')",
    "an old strategy": L + "L.Trainer(strategy='tpu_spawn_debug')",
    "a profiler": L + "L.Trainer(profiler='xla')",
    "cores": L + "L.Trainer(tpu_cores=8)",
    "a list of cores": L + "L.Trainer(tpu_cores=[1])",
    "cores of a flag": L + "L.Trainer(tpu_cores=8 if flag else None)",
    "Fabric by position": "from lightning.fabric import Fabric\nFabric('tpu', devices=8)",
    "the old Fabric": "import lightning_fabric\nlightning_fabric.Fabric(accelerator='tpu')",
    "a strategy object": "from lightning.pytorch.strategies import XLAStrategy\nimport lightning",
    "an old strategy object": "from pytorch_lightning.strategies import TPUSpawnStrategy",
    "an accelerator object": "from lightning.pytorch.accelerators import TPUAccelerator",
    "a class by its path": L + "L.Trainer(strategy=L.pytorch.strategies.XLAStrategy())",
    "a module for XLA": "from lightning.fabric.accelerators.xla import _XLA_AVAILABLE",
    "a profiler object": "from lightning.pytorch.profilers import XLAProfiler",
    "a constant": L + "KIND = 'tpu'\nL.Trainer(accelerator=KIND)",
    "an option": OPTION + "parser.add_argument('--accelerator', default='tpu')\n"
    "args = parser.parse_args()\nL.Trainer(accelerator=args.accelerator)",
    "an option of another name": OPTION + "parser.add_argument('-a', '--acc-kind', default='tpu')\n"
    "args = parser.parse_args()\nL.Trainer(accelerator=args.acc_kind)",
    "an option with dest": OPTION + "parser.add_argument('--acc', dest='kind', default='tpu')\n"
    "L.Trainer(accelerator=parser.parse_args().kind)",
    "defaults that are set": OPTION + "parser.set_defaults(accelerator='tpu')\n"
    "args = vars(parser.parse_args())\nL.Trainer(accelerator=args['accelerator'])",
    "choices without a default": OPTION + "parser.add_argument('--accelerator', choices=['gpu', 'tpu'])\n"
    "L.Trainer(accelerator=parser.parse_args().accelerator)",
    "choices of which one is required": OPTION
    + "parser.add_argument('-a', '--acc-kind', required=True, choices=('cpu', 'TPU'))\n"
    "args = vars(parser.parse_args())\nL.Fabric(accelerator=args['acc_kind'])",
    "the help of a required option": OPTION
    + "parser.add_argument('--accelerator', type=str, required=True, help='one of cpu, gpu, tpu')\n"
    "args = parser.parse_args()\nkind = args.accelerator\nL.Trainer(accelerator=kind)",
    "click": L + "import click\n@click.option('--accelerator', default='tpu')\ndef main(accelerator):\n"
    "    L.Trainer(accelerator=accelerator)",
    "typer": L + "import typer\ndef main(kind: str = typer.Option('tpu')):\n    L.Trainer(accelerator=kind)",
    "absl": L + "from absl import flags\nflags.DEFINE_string('accelerator', 'tpu', 'what')\n"
    "L.Trainer(accelerator=flags.FLAGS.accelerator)",
    "a dataclass": L + "class Config:\n    accelerator: str = 'tpu'\nL.Trainer(accelerator=Config().accelerator)",
    "a field": L + "class Config:\n    kind: str = field(default='tpu')\nL.Trainer(accelerator=Config().kind)",
    "a condition": L + "L.Trainer(accelerator='tpu' if args.tpu else 'gpu')",
    "a branch": L + "if args.tpu:\n    kind = 'tpu'\nelse:\n    kind = 'gpu'\nL.Trainer(accelerator=kind)",
    "a default": L + "L.Trainer(accelerator=given or 'tpu')",
    "the environment's default": L + "import os\nL.Trainer(accelerator=os.environ.get('KIND', 'tpu'))",
    "a parameter": L + "def make(kind):\n    return L.Trainer(accelerator=kind)\nmake('tpu')",
    "a constructor's parameter": L + "class Run:\n    def __init__(self, kind):\n        self.kind = kind\n"
    "    def go(self):\n        L.Trainer(accelerator=self.kind)\nRun('tpu').go()",
    "a function": L + "def kind():\n    return 'tpu'\nL.Trainer(accelerator=kind())",
    "an enumeration": L + "class Kind(Enum):\n    TPU = 'tpu'\nL.Trainer(accelerator=Kind.TPU.value)",
    "keywords": L + "options = {'accelerator': 'tpu'}\nL.Trainer(**options)",
    "keywords of dict()": L + "options = dict(accelerator='tpu', devices=8)\nL.Trainer(**options)",
    "keywords set later": L + "options = {}\noptions['accelerator'] = 'tpu'\nL.Trainer(**options)",
    "keywords updated": L + "options = dict(devices=8)\noptions.update(accelerator='tpu')\nL.Trainer(**options)",
    "keywords merged": L + "base = {'accelerator': 'tpu'}\nL.Trainer(**{**base, 'devices': 8})",
    "keywords joined": L + "base = {'accelerator': 'tpu'}\nL.Trainer(**(base | {'devices': 8}))",
    "keywords by kind": L + "kinds = {'t': {'accelerator': 'tpu'}, 'g': {}}\nL.Trainer(**kinds[kind])",
    "keywords of a function": L + "def options():\n    return {'accelerator': 'tpu'}\nL.Trainer(**options())",
    "an item of a dict": L + "config = {'trainer': {'kind': 'tpu'}}\nL.Trainer(accelerator=config['trainer']['kind'])",
    "the command line's class": "from lightning.pytorch.cli import LightningCLI\n"
    "LightningCLI(Net, trainer_defaults={'accelerator': 'tpu'})",
    "its arguments": "from lightning.pytorch.cli import LightningCLI\n"
    "LightningCLI(Net, args=['fit', '--trainer.accelerator=tpu'])",
    "its arguments, two words": "from lightning.pytorch.cli import LightningCLI\n"
    "LightningCLI(Net, args=['fit', '--trainer.accelerator', 'tpu'])",
    "a partial": L + "from functools import partial\npartial(L.Trainer, accelerator='tpu')",
    "cores of Trainer": T + "TrainingArguments('out', tpu_num_cores=8)",
    "cores by keywords": T + "options = dict(tpu_num_cores=8)\nTrainingArguments('out', **options)",
    "an optimizer": T + "TrainingArguments('out', optim='adamw_torch_xla')",
    "a member for the optimizer": T + "a = TrainingArguments('out')\na.optim = 'adamw_torch_xla'",
    "debugging": T + "TrainingArguments('out', debug='underflow_overflow tpu_metrics_debug')",
    "debugging in a list": T + "TrainingArguments('out', debug=['tpu_metrics_debug'])",
    "a sharded model": T + "TrainingArguments('out', fsdp='full_shard', fsdp_config={'xla': True})",
    "a sharded model by name": T + "config = {'xla': True, 'xla_fsdp_v2': True}\nTrainingArguments(fsdp_config=config)",
    "a subclass": T + "class Mine(TrainingArguments):\n    tpu_num_cores: int = 8",
    "another library's arguments": "from trl import SFTConfig\nSFTConfig(tpu_num_cores=8)",
    "a compiler": T + "TrainingArguments('out', torch_compile_backend='openxla')",
    "torch.compile": "import torch\ntorch.compile(model, backend='openxla')",
    "the environment": "import os, torch\nos.environ['PJRT_DEVICE'] = 'TPU'",
    "the environment's default value": "import os, torch\nos.environ.setdefault('PJRT_DEVICE', 'TPU')",
    "the environment updated": "import os, torch\nos.environ.update({'XLA_USE_BF16': '1'})",
    "the environment by a name": "from os import environ\nimport torch\nKEY = 'PJRT_DEVICE'\nenviron[KEY] = 'TPU'",
    "replicas of a notebook": "from accelerate import notebook_launcher\nnotebook_launcher(train, (), num_processes=8)",
}
TESTS = {
    "a kind": A + "pad = 8 if accelerator.distributed_type == DistributedType.XLA else None",
    "the old kind": A + "if accelerator.distributed_type == DistributedType.TPU:\n    model.tie_weights()",
    "one of several": A
    + "if accelerator.distributed_type in (DistributedType.XLA, DistributedType.MULTI_GPU):\n    f()",
    "a text": A + "if accelerator.distributed_type == 'XLA':\n    f()",
    "by another name": "from accelerate.utils import DistributedType as D\nimport accelerate.utils\n"
    "from accelerate.utils import DistributedType\nx = state.distributed_type is not DistributedType.XLA",
    "the environment of accelerate launch": "import os\n"
    + T
    + "if os.environ.get('ACCELERATE_DISTRIBUTED_TYPE', '') == 'TPU':\n    f()",
    "the same by getenv": "import os\n"
    + T
    + "bf16 = args.bf16 and os.getenv('ACCELERATE_DISTRIBUTED_TYPE') not in ('XLA', 'TPU')",
    "the same by a name": "import os\n"
    + A
    + "KIND = os.environ['ACCELERATE_DISTRIBUTED_TYPE']\nif KIND == 'XLA':\n    f()",
    "availability": "from accelerate.utils import is_torch_xla_available\nif is_torch_xla_available():\n    f()",
    "availability once": "from transformers import is_torch_tpu_available\nON_TPU = is_torch_tpu_available()",
    "availability by its module": "import transformers.utils as u\nprint(u.is_torch_xla_available())",
    "an error elsewhere": "from accelerate.utils import is_tpu_available\n"
    "if not is_tpu_available():\n    raise OSError",
    "the type of the device": A + "if accelerator.device.type == 'xla':\n    f()",
    "the types of devices": A + "pinned = accelerator.device.type not in ('xla', 'mps')",
    "the type kept": A + "kind = accelerator.device.type\nif kind == 'xla':\n    f()",
    "the device as text": A + "if str(accelerator.device).startswith('xla'):\n    f()",
    "a mode": T
    + "from transformers.training_args import ParallelMode\nif args.parallel_mode == ParallelMode.TPU:\n    f()",
}
NEITHER = {
    "a help text": OPTION + "parser.add_argument('--accelerator', default='gpu', help='gpu, tpu or cpu')\n"
    "L.Trainer(accelerator=parser.parse_args().accelerator)",
    "a help text of an option that may be left out": OPTION
    + "parser.add_argument('--accelerator', help='gpu, tpu or cpu')\n"
    "L.Trainer(accelerator=parser.parse_args().accelerator)",
    "choices of another option": OPTION + "parser.add_argument('--host', choices=['gpu', 'tpu'])\n"
    "L.Trainer(accelerator='gpu')",
    "choices without XLA": OPTION + "parser.add_argument('--accelerator', choices=['gpu', 'cpu'], required=True)\n"
    "L.Trainer(accelerator=parser.parse_args().accelerator)",
    "choices": OPTION + "parser.add_argument('--accelerator', choices=['gpu', 'tpu'], default='gpu')\n"
    "L.Trainer(accelerator=parser.parse_args().accelerator)",
    "a doc string": L + "def f():\n    '''Use accelerator='tpu' on a TPU.'''\n    L.Trainer(accelerator='gpu')",
    "a comment": L + "L.Trainer(accelerator='gpu')  # accelerator='tpu'",
    "a flag that is off": L + "USE_TPU = False\nL.Trainer(accelerator='tpu' if USE_TPU else 'gpu')",
    "a branch that is off": L + "USE_TPU = False\nif USE_TPU:\n    kind = 'tpu'\nelse:\n    kind = 'gpu'\n"
    "L.Trainer(accelerator=kind)",
    "a constant compared": L + "KIND = 'gpu'\nL.Trainer(strategy='xla' if KIND == 'tpu' else 'ddp')",
    "no cores": L + "L.Trainer(tpu_cores=None)",
    "cores of an option without default": OPTION + "parser.add_argument('--tpu_cores', type=int)\n"
    "L.Trainer(tpu_cores=parser.parse_args().tpu_cores)",
    "cores that are not known": L + "def make(hparams):\n    L.Trainer(tpu_cores=hparams.tpu_cores)",
    "a class of the project": L + "from nets import TPUStrategy\nL.Trainer(strategy=TPUStrategy())",
    "no framework": "run(accelerator='tpu')",
    "an option of another framework": T + "run(accelerator='tpu')",
    "a dict that no trainer gets": L + "prices = [{'accelerator': 'tpu'}]",
    "another optimizer": T + "TrainingArguments('out', optim='adamw_torch')",
    "a sharded model without XLA": T + "TrainingArguments('out', fsdp_config={'xla': False})",
    "another kind in the environment": "import os\n"
    + T
    + "if os.environ.get('ACCELERATE_DISTRIBUTED_TYPE') == 'MULTI_GPU':\n    f()",
    "another variable": "import os\n" + T + "if os.environ.get('WANTED') == 'TPU':\n    f()",
    "an error on XLA": A + "if accelerator.distributed_type == DistributedType.XLA:\n    raise NotImplementedError",
    "an assertion": A + "assert accelerator.distributed_type != DistributedType.XLA",
    "an error where available": "from accelerate.utils import is_tpu_available\nif is_tpu_available():\n"
    "    raise RuntimeError('no TPU')",
    "an error in the other branch": "from accelerate.utils import is_tpu_available\n"
    "if not is_tpu_available():\n    f()\nelse:\n    raise RuntimeError('no TPU')",
    "a test that is skipped": "import unittest\nfrom transformers import is_torch_xla_available\n"
    "@unittest.skipIf(is_torch_xla_available(), 'no')\ndef test():\n    pass",
    "an unused import": "from accelerate.utils import is_torch_xla_available",
    "a function of the project": "import torch\nfrom tools import is_tpu_available\nis_tpu_available()",
    "JAX": "import os, torch\nos.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = 'false'",
    "a variable switched off": "import os, torch\nos.environ['USE_TORCH_XLA'] = '0'",
    "a variable that is read": "import os, torch\nif os.environ.get('PJRT_DEVICE') is None:\n    f()",
    "replicas on GPUs": "import torch\nfrom accelerate import notebook_launcher\ntorch.cuda.is_available()\n"
    "notebook_launcher(train, (), num_processes=8)",
    "two replicas": "from accelerate import notebook_launcher\nnotebook_launcher(train, (), num_processes=2)",
    "no Python": "import lightning\nprint 'tpu'",
}


@pytest.mark.parametrize("source", ASKS.values(), ids=ASKS)
def test_a_program_asks_a_framework_for_xla(source: str) -> None:
    assert requests_in(source.encode()).asks


@pytest.mark.parametrize("source", TESTS.values(), ids=TESTS)
def test_a_program_has_code_of_its_own_for_xla(source: str) -> None:
    assert requests_in(source.encode()) == Requests(asks=False, tests=True)


@pytest.mark.parametrize("source", NEITHER.values(), ids=NEITHER)
def test_what_only_mentions_xla_asks_for_nothing(source: str) -> None:
    assert requests_in(source.encode()) == Requests()


def test_a_mention_in_a_comment_is_not_looked_into() -> None:
    assert not may_request(b"from transformers import Trainer  # on a TPU too\n# torch_xla is not needed, nor a tpu\n")
    assert may_request(b"from transformers import Trainer  # not 'on a TPU'\n")


JOBS = {
    "a text": ("HuggingFace(entry_point='train.py', instance_type='ml.trn1.2xlarge')", {"train.py"}),
    "a folder": ("PyTorch(entry_point='a.py', source_dir='src', instance_type='ml.trn1.2xlarge')", {"src/a.py"}),
    "a remote folder": ("PyTorch(entry_point='a.py', source_dir='s3://x', instance_type='ml.trn1.2xlarge')", {"a.py"}),
    "constants": (
        "SCRIPT, KIND = 'a.py', 'ml.trn1.2xlarge'\nPyTorch(entry_point=SCRIPT, instance_type=KIND)",
        {"a.py"},
    ),
    "keywords": (
        "job = dict(entry_point='a.py', compiler_config=TrainingCompilerConfig())\nHuggingFace(**job)",
        {"a.py"},
    ),
    "a compiler kept": ("c = TrainingCompilerConfig()\nHuggingFace(entry_point='a.py', compiler_config=c)", {"a.py"}),
    "a launcher": (
        "PyTorch(entry_point='a.py', instance_type='ml.p3.2xlarge', distribution={'pytorchxla': {'enabled': True}})",
        {"a.py"},
    ),
    "only one of two jobs": (
        (
            "PyTorch(entry_point='a.py', instance_type='ml.trn1.2xlarge')\n"
            "PyTorch(entry_point='b.py', instance_type='ml.p3.2xlarge')"
        ),
        {"a.py"},
    ),
    "the newer class": (
        "SourceCode(source_dir='src', entry_script='a.py')\nCompute(instance_type='ml.trn1.2xlarge')",
        {"src/a.py"},
    ),
    "a GPU": ("PyTorch(entry_point='a.py', instance_type='ml.p3.2xlarge')", set()),
}


@pytest.mark.parametrize(("source", "launched"), JOBS.values(), ids=JOBS)
def test_a_job_has_its_entry_point_run_on_xla(source: str, launched: set[str]) -> None:
    assert launched_in(f"import sagemaker\n{source}".encode()) == launched


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(['python', 'xla_spawn.py', '--num_cores', '8', 'run_glue.py'])",
        "os.system('python examples/xla_spawn.py --num_cores 8 run_glue.py --do_train')",
        "command = ['python', '-m', 'torch_xla.distributed.xla_spawn', 'run_glue.py']",
    ],
)
def test_a_script_behind_xla_spawn_runs_on_xla(source: str) -> None:
    assert launched_in(source.encode()) == {"run_glue.py"}


def test_a_mention_of_xla_spawn_alone_starts_nothing() -> None:
    assert not launched_in(
        textwrap.dedent("""\
        # see xla_spawn.py
        print("run_glue.py")
    """).encode()
    )


@pytest.mark.parametrize(
    ("place", "tests"),
    [("train.py", True), ("test_train.py", False), ("tests/train.py", False), ("accelerate/train.py", False)],
)
def test_code_for_xla_in_a_test_or_a_framework_is_for_others(tmp_path: Path, place: str, tests: bool) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.with_name("__init__.py").touch()
    source = (A + "pad = 128 if accelerator.distributed_type == DistributedType.XLA else None").encode()
    assert requests_in(source, path) == Requests(tests=tests)


def test_a_folder_of_the_name_of_a_framework_is_no_package(tmp_path: Path) -> None:
    path = tmp_path / "accelerate" / "train.py"
    path.parent.mkdir()
    source = (A + "pad = 128 if accelerator.distributed_type == DistributedType.XLA else None").encode()
    assert requests_in(source, path) == Requests(tests=True)


def test_a_request_in_a_test_is_one(tmp_path: Path) -> None:
    source = (L + "L.Trainer(accelerator='tpu')").encode()
    assert requests_in(source, tmp_path / "test_train.py") == Requests(asks=True)
