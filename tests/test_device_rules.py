"""Guards that answer for a name's absence, and the tables of what each release has."""

from __future__ import annotations

from pathlib import Path

import astroid
import pytest

from xla_lint.engine import Settings, check_module
from xla_lint.knowledge import api, environment, lowering
from xla_lint.knowledge.releases import Release
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Version
from xla_lint.program.project.source import parse
from xla_lint.program.syntax.version_tests import Answer, VersionTests
from xla_lint.rules import all_rules

SYMBOLS = {rule.symbol for rule in all_rules() if rule.number.startswith(("976", "977"))}
IMPORTS = "import torch_xla\nimport torch_xla.core.xla_model as xm\n"
Labels = list[tuple[int, str]]


def found(text: str, target: str = "2.9") -> Labels:
    findings = check_module(parse(text, Path("train.py")), Project(), Settings(target=Version.parse(target)), SYMBOLS)
    return [(int(item.node.lineno), item.rule.symbol.removeprefix("xla-")) for item in findings]


def message(text: str, target: str) -> str:
    (finding,) = check_module(parse(text, Path("x.py")), Project(), Settings(target=Version.parse(target)), SYMBOLS)
    return finding.message


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ('torch_xla.__version__ >= "2.8"', Answer.YES),
        ('torch_xla.__version__ < "2.10"', Answer.YES),
        ('"2.8" <= torch_xla.__version__', Answer.YES),
        ('torch_xla.__version__ == "2.8.1"', Answer.NO),
        ('torch_xla.__version__ == "2.9.1"', Answer.UNDECIDED),
        ('torch_xla.__version__.startswith("2.9")', Answer.UNDECIDED),
        ('tuple(map(int, torch_xla.__version__.split(".")[:2])) < (2, 8)', Answer.NO),
        ('tuple(int(part) for part in torch_xla.__version__.split("+")[0].split(".")[:2]) == (2, 9)', Answer.YES),
        ('int(torch_xla.__version__.split(".")[1]) >= 7', Answer.YES),
        ("version.parse(torch.__version__).release >= (2, 4)", Answer.YES),
        ("version.parse(torch_xla.__version__).minor > 9", Answer.NO),
        ('importlib.metadata.version("torch_xla") >= "2.5"', Answer.YES),
        ('importlib.metadata.version("transformers") >= "2.5"', Answer.UNRELATED),
        ('hasattr(torch_xla, "sync")', Answer.YES),
        ('not hasattr(xm, "xrt_world_size")', Answer.YES),
        ('hasattr(torch_xla, "something_else")', Answer.UNDECIDED),
        ('hasattr(model, "config")', Answer.UNRELATED),
        ('hasattr(torch_xla, "sync") and flag', Answer.UNRELATED),
        ('not hasattr(torch_xla, "sync") and flag', Answer.NO),
        ('flag or hasattr(torch_xla, "sync")', Answer.YES),
        ('is_torch_xla_version(">=", "2.8")', Answer.YES),
        ('compare_versions("torch_xla", "<", "2.8")', Answer.NO),
        ("NEW", Answer.YES),
        ("is_new()", Answer.YES),
        ("xr is None", Answer.NO),
        ("pjrt is not None", Answer.NO),
        ("flag", Answer.UNRELATED),
        ("flag > 2", Answer.UNRELATED),
    ],
)
def test_tests_on_the_release(test: str, expected: Answer) -> None:
    module = astroid.parse(
        f"""
        import importlib.metadata
        import torch, torch_xla
        import torch_xla.core.xla_model as xm
        from packaging import version
        from accelerate.utils import compare_versions
        from diffusers.utils import is_torch_xla_version
        try:
            import torch_xla.runtime as xr
        except ImportError:
            xr = None
        try:
            from torch_xla.experimental import pjrt
        except ImportError:
            pjrt = None
        NEW = version.parse(torch_xla.__version__) >= version.parse("2.8")
        def is_new():
            return NEW
        {test}
        """
    )
    assert VersionTests((2, 9)).decide(module.body[-1].value) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("xm.mark_step()", [(3, "deprecated-api")]),
        ("step = xm.mark_step", [(3, "deprecated-api")]),
        ("def f(xm):\n  xm.mark_step()", []),
        ("alias = xm\nalias.mark_step()", [(4, "deprecated-api")]),
        ('if torch_xla.__version__ < "2.8":\n  xm.mark_step()', []),
        ('if torch_xla.__version__ < "2.8":\n  pass\nelse:\n  xm.mark_step()', [(6, "deprecated-api")]),
        ('def f():\n  if torch_xla.__version__ >= "2.8":\n    return\n  xm.mark_step()', []),
        ("def f(new):\n  if new:\n    return torch_xla.sync()\n  xm.mark_step()", []),
        ("def f(new):\n  if new:\n    return print()\n  xm.mark_step()", [(6, "deprecated-api")]),
        ("def f():\n  xm.mark_step()\nif not hasattr(torch_xla, 'sync'):\n  f()", []),
        ("for i in range(9):\n  if i % 2:\n    torch_xla.sync()\n  else:\n    xm.mark_step()", [(7, "deprecated-api")]),
        ("n = 0\nn += 1\nif n % 2:\n  torch_xla.sync()\nelse:\n  xm.mark_step(wait=True)", [(8, "deprecated-api")]),
        ("for i in range(9):\n  if new:\n    torch_xla.sync()\n  else:\n    xm.mark_step()", []),
        ("def f():\n  xm.mark_step()\nf()\nif not hasattr(torch_xla, 'sync'):\n  f()", [(4, "deprecated-api")]),
        ("try:\n  torch_xla.sync()\nexcept AttributeError:\n  xm.mark_step()", []),
        ("try:\n  xm.mark_step()\nexcept ImportError:\n  pass", [(4, "deprecated-api")]),
        ("try:\n  print()\nexcept AttributeError:\n  xm.mark_step()", [(6, "deprecated-api")]),
        ("step = getattr(torch_xla, 'sync', None) or xm.mark_step", []),
        ("import contextlib\nwith contextlib.suppress(AttributeError):\n  xm.get_ordinal()", []),
        ("xm.get_ordinal = print\nxm.get_ordinal()", []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  from torch_xla.amp import GradScaler", []),
        ("if tpu and False:\n  xm.get_ordinal()", []),
        ("if tpu or False:\n  xm.get_ordinal()", [(4, "removed-api")]),
        ("if False:\n  pass\nelse:\n  xm.get_ordinal()", [(6, "removed-api")]),
        ("try:\n  n = xm.get_ordinal()\n  if int(n) > 0:\n    print(n)\nexcept Exception:\n  pass", []),
        ("try:\n  n = xm.get_ordinal()\n  train(n)\nexcept Exception:\n  pass", [(4, "removed-api")]),
        ("try:\n  n = xm.get_xla_supported_devices('TPU')\nexcept TypeError:\n  n = []", []),
        ("try:\n  n = xm.get_xla_supported_devices('TPU')\nexcept ImportError:\n  n = []", [(4, "removed-api")]),
        ("import torch_xla.amp.syncfree.Adam as adam", [(3, "removed-api")]),
        ("from torch_xla.amp.syncfree import Adam", []),
        ("from torch_xla.experimental import pjrt\npjrt.world_size()", [(3, "removed-api")]),
        ("torch_xla.experimental.pjrt.world_size()", [(3, "removed-api")]),
        ("xm.get_xla_supported_devices('TPU')", [(3, "removed-api")]),
        ("xm.get_xla_supported_devices(max_devices=1)", []),
    ],
)
def test_uses_of_names(code: str, expected: Labels) -> None:
    assert found(IMPORTS + code) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("1.7", None),
        ("2.4", None),
        ("2.5", "'xm.xrt_world_size' is deprecated since torch_xla 2.5: use torch_xla.runtime.world_size()"),
        ("2.7", "'xm.xrt_world_size' is gone since torch_xla 2.7: use torch_xla.runtime.world_size()"),
    ],
)
def test_a_name_in_each_release(target: str, expected: str | None) -> None:
    text = "import torch_xla.core.xla_model as xm\nxm.xrt_world_size()"
    if expected is None:
        assert found(text, target) == []
    else:
        assert message(text, target) == expected


def test_a_class_imported_as_a_module_is_told_how() -> None:
    text = "import torch_xla.amp.GradScaler as scaler"
    assert message(text, "2.0").endswith("write 'from torch_xla.amp import GradScaler'")
    assert "without a scaler" in message(text, "2.9")


def test_no_advice_names_what_the_target_lacks() -> None:
    for minor in range(10):
        target: Release = (2, minor)
        for entry in api.names().values():
            spelling = entry.life.replacement(target)
            if spelling is not None and (entry.life.is_deprecated(target) or entry.life.is_removed(target)):
                assert api.exists(spelling.partition("(")[0], target) is not False, (entry.name, target)


def test_releases_follow_each_other() -> None:
    for entry in api.names().values():
        dates = [entry.life.since, entry.life.deprecated, entry.life.removed]
        given = [date for date in dates if date is not None]
        assert given == sorted(given), entry.name


@pytest.mark.parametrize(
    ("code", "target", "reported"),
    [
        ('import os\nos.environ["XLA_USE_BF16"] = "1"\nimport torch_xla', "2.0", False),
        ('import os\nimport torch_xla\nos.environ["XLA_USE_BF16"] = "1"', "2.0", True),
        ('import os\nos.environ["XLA_USE_BF16"] = "1"\nimport torch_xla', "2.9", True),
        ('import os, torch_xla\nos.environ.pop("XLA_USE_BF16")', "2.9", False),
        ('import os\nos.environ["XLA_USE_BF16"] = "0"\nimport torch_xla', "2.9", False),
        ('import os, torch_xla\nos.environ.setdefault("XLA_USE_FP16", "")', "2.9", False),
        ('from os import environ\nimport torch_xla\nenviron["XRT_WORKERS"] = ""', "2.9", True),
        ('import os, torch_xla\nos.environ |= {"XLA_USE_F16": "1"}', "2.9", True),
        ('import os, torch_xla\nos.environ.update(XLA_USE_FP16="1")', "2.9", True),
        ('import os, torch_xla\nKEY = "XLA_USE_FP16"\nos.putenv(KEY, "1")', "2.9", True),
        ('import os, torch_xla\nfor key in ("XRT_WORKERS", "OTHER"):\n  os.environ[key] = "x"', "2.9", True),
        ('import os, torch_xla\nfor key, value in {"XLA_USE_F16": "1"}.items():\n  os.putenv(key, value)', "2.9", True),
        ('import os, torch_xla\nNAMES = ["XLA_USE_FP16"]\nfor key in NAMES:\n  os.environ[key] = "1"', "2.9", True),
        ('import os, torch_xla\nfor value, key in [("XLA_USE_FP16", "A")]:\n  os.environ[key] = value', "2.9", False),
        ('import os, torch_xla\nfor key in ("XLA_USE_FP16",):\n  key = "A"\n  os.environ[key] = "1"', "2.9", False),
        ('import os, torch_xla\nos.environ["PJRT_DEVICE"] = "TPU"', "2.9", False),
        ('import os, torch_xla\nos.environ["PJRT_DEVICE"] = "CUDA"', "2.8", False),
        ('import os, torch_xla\nos.environ["XLA_FLAGS"] = "--xla_dump_to=/tmp/a"', "2.9", False),
    ],
)
def test_environment_variables(code: str, target: str, reported: bool) -> None:
    symbols = [symbol for _, symbol in found(code, target)]
    assert symbols == (["ineffective-env"] if reported else [])


def test_every_variable_has_a_reason() -> None:
    for item in environment.variables():
        assert item.early or item.ignored or item.deprecated, item.name


OPTION = (
    "import argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--{0}', type=int, default={1})\nopt = p.parse_args()"
)
PICKLED = "def go(n):\n  def f(index): ...\n  xmp.spawn(f, nprocs=n)\ngo(unknown)"


@pytest.mark.parametrize(
    ("code", "target", "expected"),
    [
        (f"{OPTION.format('num-cores', 8)}\nxmp.spawn(f, nprocs=opt.num_cores)", "2.9", "nprocs=opt.num_cores, 8 by"),
        (f"{OPTION.format('num-cores', 8)}\nxmp.spawn(f, nprocs=opt.num_cores)", "2.5", None),
        (f"{OPTION.format('num-cores', 1)}\nxmp.spawn(f, nprocs=opt.num_cores)", "2.9", None),
        (f"{OPTION.format('num-cores', 8)}\nxmp.spawn(f, nprocs=opt.other)", "2.9", None),
        (f"{OPTION.format('n', 8)}\np.add_argument('-m', dest='n', default=1)\nxmp.spawn(f, (), opt.n)", "2.9", None),
        (f"{OPTION.format('n', 4)}\nopt.n = 1\nxmp.spawn(f, (), opt.n)", "2.9", None),
        (f"{OPTION.format('n', 4)}\nopt.n = 2\nxmp.spawn(f, (), opt.n)", "2.9", "nprocs=2 is"),
        (
            "from absl import flags\nflags.DEFINE_integer('cores', 8, '')\nxmp.spawn(f, nprocs=flags.FLAGS.cores)",
            "2.9",
            "nprocs=flags.FLAGS.cores, 8 by default, is a ValueError",
        ),
        (
            f"{OPTION.format('n', 1)}\nif opt.n == 1:\n  f(0)\nelse:\n  xmp.spawn(f, nprocs=opt.n)",
            "2.9",
            "which is not 1 here",
        ),
        (f"{OPTION.format('n', 1)}\nif opt.n > 1:\n  xmp.spawn(f, nprocs=opt.n)", "2.9", "which is not 1 here"),
        (
            f"{OPTION.format('n', 1)}\nif opt.n <= 1:\n  raise SystemExit\nxmp.spawn(f, (), opt.n)",
            "2.9",
            "which is not 1 here",
        ),
        (f"{OPTION.format('n', None)}\nif opt.n == 1:\n  f(0)\nelse:\n  xmp.spawn(f, nprocs=opt.n)", "2.9", None),
        (f"{OPTION.format('n', 1)}\nif opt.n == 1:\n  xmp.spawn(f, nprocs=opt.n)", "2.9", None),
        ("def go(n=None):\n  if n is None: n = 8\n  xmp.spawn(f, nprocs=n)\ngo(unknown)", "2.9", "nprocs=8 is"),
        (PICKLED, "2.9", "'f', a function defined inside 'go', cannot be pickled for the new processes unless nprocs"),
        (PICKLED, "2.0", None),
        (PICKLED.replace("unknown", "1"), "2.9", None),
        (PICKLED.replace("def f(index): ...", "f = unknown"), "2.9", None),
    ],
)
def test_how_many_processes(code: str, target: str, expected: str | None) -> None:
    before = "import torch_xla.distributed.xla_multiprocessing as xmp\n"
    top = "" if "def f" in code else "def f(index): ...\n"
    module, settings = parse(f"{before}{top}{code}\n", Path("x.py")), Settings(target=Version.parse(target))
    told = [finding.message for finding in check_module(module, Project(), settings, ["xla-launch-arguments"])]
    assert [expected is not None and expected in each for each in told] == [True] * (expected is not None)


XM = "import torch_xla.core.xla_model as xm\n"
READER = "class Reader:\n  def read(self):\n    torch.cuda.synchronize()\n"
HEAD = (
    "import torch, torch_xla\nimport torch_xla.runtime as xr\nimport torch_xla.distributed.xla_multiprocessing as xmp\n"
)


@pytest.mark.parametrize(
    ("code", "target", "expected"),
    [
        ("def f(index): ...\nxmp.spawn(f, nprocs=8)", "2.9", [(5, "launch-arguments")]),
        ("def f(index): ...\nxmp.spawn(f, nprocs=8)", "2.5", []),
        ("xmp.spawn(lambda index: 0, start_method='fork')", "2.0", []),
        ("xmp.spawn(lambda index: 0, start_method='fork')", "2.1", [(4, "launch-arguments")]),
        ("def f(index, a, b=1): ...\ntorch_xla.launch(f, args=(1,))", "2.9", []),
        ("def f(index, a, b=1): ...\ntorch_xla.launch(f, args=unknown)", "2.9", []),
        ("def f(index): ...\nxr.world_size()\ntorch_xla.launch(f)", "2.9", [(5, "device-before-launch")]),
        ("def f(index): ...\nxr.world_size()\nxmp.spawn(f, nprocs=1)", "2.9", []),
        (f"{XM}def f(index): ...\nxm.xrt_world_size()\nxmp.spawn(f)", "2.3", [(6, "device-before-launch")]),
        (f"{XM}def f(index): ...\nxm.xrt_world_size()\nxmp.spawn(f)", "2.9", [(6, "removed-api")]),
        ("def f(index): ...\ntorch.zeros(3, device='xla')\ntorch_xla.launch(f)", "2.9", [(5, "device-before-launch")]),
        ("def f(index): ...\ntorch.zeros(3).to('xla:0')\ntorch_xla.launch(f)", "2.9", [(5, "device-before-launch")]),
        (
            "def f(index): ...\nd = torch.device('xla')\ntorch.nn.Linear(2, 2).to(d)\ntorch_xla.launch(f)",
            "2.9",
            [(6, "device-before-launch")],
        ),
        ("def f(index): ...\nd = torch.device('xla')\ntorch.zeros(3).to('cpu')\ntorch_xla.launch(f)", "2.9", []),
        ("def f(index):\n  torch.zeros(3, device='xla')\ntorch_xla.launch(f)", "2.9", []),
        ("def f(index): ...\ntorch_xla.launch(f)\nxr.world_size()", "2.9", []),
        (
            "from job import f, flag\nif flag:\n  xr.world_size()\ntorch_xla.launch(f)",
            "2.9",
            [(6, "device-before-launch")],
        ),
        ("from job import f, flag\nif flag:\n  xr.world_size()\nelse:\n  torch_xla.launch(f)", "2.9", []),
        (
            "from job import f\nd = torch_xla.device()\ndef main():\n  torch_xla.launch(f)",
            "2.9",
            [(5, "device-before-launch")],
        ),
        ("def f(index):\n  xr.world_size()\ntorch_xla.launch(f)\ntorch_xla.launch(f)", "2.9", []),
    ],
)
def test_launches(code: str, target: str, expected: Labels) -> None:
    assert found(HEAD + code, target) == expected


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ("torch.cuda.synchronize()", True),
        ("torch.cuda.manual_seed_all(1)", False),
        ("if torch.cuda.is_available():\n  torch.cuda.synchronize()", False),
        ("if torch.cuda.device_count() > 1:\n  torch.cuda.set_device(1)", False),
        ("use = torch.cuda.is_available() and flag\nif use:\n  torch.cuda.synchronize()", False),
        ("cpu = not torch.cuda.is_available()\nif not cpu:\n  torch.cuda.synchronize()", False),
        ("from job import flag\nif flag:\n  torch.cuda.synchronize()", False),
        ("from job import flag\nx = torch.ones(2, device='cuda' if flag else 'cpu')", False),
        (
            "from job import flag\ndef f():\n  if flag:\n    return torch_xla.device()\n  return torch.device('cuda')",
            False,
        ),
        ("for i in range(9):\n  if i % 3 == 0:\n    torch.cuda.empty_cache()", True),
        ("x = torch.ones(2, device=torch_xla.device())\nif x.device.type == 'cuda':\n  x.cuda()", False),
        ("x = torch.ones(2).to('cuda:0')", True),
        ("with torch.autocast('cuda'):\n  pass", False),
        ("def f(place=torch.device('cuda')):\n  return torch.ones(2)\nf(torch_xla.device())", True),
        ("from job import flag\ndef f(at=torch.device('cuda')):\n  torch.ones(2).to(at)\nif flag:\n  f()", False),
        (f"{READER}from job import flag\nreader = Reader() if flag else None\nreader.read()", False),
        (f"{READER}from job import flag\nif flag:\n  reader = Reader()\nif reader:\n  reader.read()", False),
        (f"{READER}reader = Reader()\nreader.read()", True),
    ],
)
def test_leftovers_of_cuda(code: str, reported: bool) -> None:
    assert [symbol for _, symbol in found(HEAD + code)] == (["cuda-leftover"] if reported else [])


def test_a_module_that_may_lack_torch_xla_may_use_cuda() -> None:
    text = "import torch\ntry:\n  import torch_xla\nexcept ImportError:\n  torch_xla = None\ntorch.cuda.synchronize()"
    assert found(text) == []


def test_conditions_of_fallbacks() -> None:
    (bicubic, *_) = lowering.operation("nn.functional.interpolate")
    (mode,) = bicubic.conditions
    assert mode.holds(True, "bicubic")
    assert not mode.holds(True, "nearest")
    assert not mode.holds(True, None)
    assert not mode.holds(False, None)
    (multinomial,) = lowering.operation("multinomial")
    count, replacement = multinomial.conditions
    assert count.holds(True, 2)
    assert not count.holds(True, 1)
    assert replacement.holds(False, None)
    assert not replacement.holds(True, True)
