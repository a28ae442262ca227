"""How renamed uses, and the imports that they take, are written in programs as people lay them out."""

from __future__ import annotations

import ast

import pytest

from xla_lint.fixes.changes import Fix, ImportInstead, Name, Refer, Repair, Span, Takes
from xla_lint.fixes.edits import Edit, edits, plan

XM = "torch_xla.core.xla_model"
SYNC = Name("torch_xla", "sync")
WORLD = Name("torch_xla.runtime", "world_size", "xr")
DEVICE = Name("torch_xla", "device")
NEW = {"mark_step": SYNC, "xrt_world_size": WORLD, "xla_device": DEVICE}
TAKES: dict[str, Takes] = {
    "mark_step": (("wait", "wait"), ("reset_scope", "reset_scope")),
    "xrt_world_size": (("defval", None),),
    "xla_device": (("n", "index"), ("devkind", None)),
}
FIX = Fix("rename", safe=True)


def repairs(text: str) -> list[Repair]:
    """One for each attribute and each import of an old name."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in NEW:
            found.append(Repair(FIX, (Refer(Span.of(node), NEW[node.attr], TAKES[node.attr]),)))
        if isinstance(node, ast.ImportFrom):
            old = [alias.name for alias in node.names if alias.name in NEW]
            changes = (ImportInstead(Span.of(node), f"{XM}.{name}", NEW[name], TAKES[name]) for name in old)
            found += [Repair(FIX, (change,)) for change in changes]
    return found


def renamed(text: str) -> str:
    result = plan(repairs(text), text).text
    ast.parse(result)
    assert plan(repairs(result), result).text == result
    return result


def test_an_import_takes_the_place_of_the_one_that_is_no_longer_used() -> None:
    text = "# the device\nimport torch_xla.core.xla_model as xm  # isort: skip\n\nxm.mark_step()\n"
    assert renamed(text) == "# the device\nimport torch_xla  # isort: skip\n\ntorch_xla.sync()\n"


def test_an_import_that_is_still_used_stays() -> None:
    text = "import torch_xla.core.xla_model as xm\nxm.mark_step()\nxm.save(a, b)\n"
    assert renamed(text) == (
        "import torch_xla\nimport torch_xla.core.xla_model as xm\ntorch_xla.sync()\nxm.save(a, b)\n"
    )


def test_an_import_that_is_there_is_used() -> None:
    text = "import torch\nimport torch_xla as tx\nimport torch_xla.core.xla_model as xm\nxm.mark_step()\n"
    assert renamed(text) == "import torch\nimport torch_xla as tx\ntx.sync()\n"


def test_a_module_that_is_imported_whole_gives_its_package() -> None:
    text = "import torch_xla.core.xla_model\ntorch_xla.core.xla_model.mark_step()\n"
    assert renamed(text) == "import torch_xla.core.xla_model\ntorch_xla.sync()\n"


def test_a_module_goes_by_its_usual_name() -> None:
    text = "import torch_xla.core.xla_model as xm\nprint(f'{xm.xrt_world_size()}', xm.xrt_world_size(1))\n"
    result = renamed(text)
    assert result.startswith("import torch_xla.runtime as xr\n")
    assert "xr.world_size())" in result


def test_a_name_that_is_taken_is_not_used_for_a_module() -> None:
    text = "import torch_xla.core.xla_model as xm\nxr = 3\nprint(xm.xrt_world_size())\n"
    assert renamed(text) == "import torch_xla.runtime\nxr = 3\nprint(torch_xla.runtime.world_size())\n"


def test_nothing_is_done_where_the_package_means_something_else() -> None:
    text = "import torch_xla.core.xla_model as xm\ndef step(torch_xla):\n    xm.mark_step()\n"
    assert renamed(text) == text


def test_an_import_under_a_test_stays_under_it() -> None:
    text = (
        "try:\n    import torch_xla.core.xla_model as xm\n    XLA = True\nexcept ImportError:\n    XLA = False\n\n\n"
        "def step():\n    if XLA:\n        xm.mark_step()\n"
    )
    assert renamed(text) == text.replace("torch_xla.core.xla_model as xm", "torch_xla").replace(
        "xm.mark_step", "torch_xla.sync"
    )


def test_an_import_that_may_fail_is_not_relied_on_elsewhere() -> None:
    text = (
        "import torch_xla.core.xla_model as xm\ntry:\n    import torch_xla\nexcept ImportError:\n    pass\n"
        "xm.mark_step()\n"
    )
    assert renamed(text).startswith("import torch_xla\ntry:\n")


def test_an_import_in_a_function_stays_there() -> None:
    text = "def step():\n\timport torch_xla.core.xla_model as xm\n\txm.mark_step()\n"
    assert renamed(text) == "def step():\n\timport torch_xla\n\ttorch_xla.sync()\n"


def test_a_fallback_keeps_its_import() -> None:
    tried = "try:\n    import torch_xla.core.xla_model as xm\nexcept ImportError:\n    xm = None\n"
    text = f"{tried}if xm:\n    xm.mark_step()\n"
    assert "    import torch_xla\n    import torch_xla.core.xla_model as xm\n" in renamed(text)


def test_what_a_module_exports_stays() -> None:
    text = "__all__ = ['xm']\nimport torch_xla.core.xla_model as xm\nxm.mark_step()\n"
    assert "as xm\n" in renamed(text)


def test_an_import_of_several_loses_one() -> None:
    text = "import os, torch_xla.core.xla_model as xm, sys\nxm.mark_step()\n"
    assert renamed(text) == "import torch_xla\nimport os, sys\ntorch_xla.sync()\n".replace(
        "import torch_xla\nimport os, sys\n", "import os, sys\nimport torch_xla\n"
    )


@pytest.mark.parametrize("reference", ["xm . mark_step", "(xm.mark_step)", "xm.\\\n    mark_step", "xm.mark_step"])
def test_a_reference_may_be_written_in_any_way(reference: str) -> None:
    result = renamed(f"import torch_xla.core.xla_model as xm\n{reference}()\n")
    assert "torch_xla.sync" in result
    assert "xm" not in result


def test_names_imported_from_a_module_are_spelled_out() -> None:
    text = f"from {XM} import mark_step, save\n\n@decorated(mark_step)\ndef step():\n    save(1, 2)\n    mark_step()\n"
    assert renamed(text) == (
        f"from {XM} import save\nimport torch_xla\n\n@decorated(torch_xla.sync)\ndef step():\n    save(1, 2)\n"
        "    torch_xla.sync()\n"
    )


def test_a_name_of_its_own_stays() -> None:
    text = f"from {XM} import mark_step as cut\ncut(wait=True)\n"
    assert renamed(text) == "from torch_xla import sync as cut\ncut(wait=True)\n"


def test_a_name_that_others_may_import_stays() -> None:
    assert renamed(f"from {XM} import mark_step\n") == "from torch_xla import sync as mark_step\n"


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("xm.xla_device(1)", "torch_xla.device(1)"),
        ("xm.xla_device(n=rank)", "torch_xla.device(index=rank)"),
        ("xm.xla_device(1, 'TPU')", "torch_xla.device(1)"),
        ("xm.xla_device(devkind='TPU', n=1)", "torch_xla.device(index=1)"),
        ("xm.xla_device(\n    1,  # this one\n    devkind='TPU',\n)", "torch_xla.device(\n    1,  # this one\n)"),
        ("xm.xla_device(1,  # this one\n    devkind='TPU')", "torch_xla.device(1,  # this one\n    )"),
    ],
)
def test_arguments_are_called_what_the_new_name_calls_them(call: str, result: str) -> None:
    assert result in renamed(f"import {XM} as xm\nd = {call}\n")


@pytest.mark.parametrize(
    "call", ["xm.xla_device(*a)", "xm.xla_device(**k)", "xm.xla_device(kind=1)", "xm.mark_step(1, 2, 3)"]
)
def test_a_call_that_the_new_name_may_not_take_stays(call: str) -> None:
    text = f"import {XM} as xm\nd = {call}\n"
    assert renamed(text) == text


def test_a_call_of_an_imported_name_follows_as_well() -> None:
    text = f"from {XM} import xla_device\nd = xla_device(0, devkind='TPU')\n"
    assert renamed(text) == "import torch_xla\nd = torch_xla.device(0)\n"
    text = f"from {XM} import xla_device as dev\nd = dev(n=0)\n"
    assert renamed(text) == "from torch_xla import device as dev\nd = dev(index=0)\n"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_ends_of_lines_are_those_of_the_text(end: str) -> None:
    text = end.join([f"import {XM} as xm", "s = 'ä'; xm.mark_step()", "xm.save(s)", ""])
    expected = end.join(["import torch_xla", f"import {XM} as xm", "s = 'ä'; torch_xla.sync()", "xm.save(s)", ""])
    assert renamed(text) == expected


def test_columns_are_characters() -> None:
    text = f"import torch_xla\nimport {XM} as xm\nx = 'ä', xm.mark_step, xm.save\n"
    assert edits(repairs(text), text) == [Edit(3, 10, 3, 22, "torch_xla.sync")]


def test_each_edit_makes_what_the_plan_makes() -> None:
    text = (
        f"import {XM} as xm\n\n\ndef step():\n    xm.mark_step()\n    return xm.xla_device(n=1), xm.xrt_world_size()\n"
    )
    lines = text.splitlines(keepends=True)
    for edit in reversed(edits(repairs(text), text)):
        before, after = lines[edit.line - 1][: edit.column - 1], lines[edit.end_line - 1][edit.end_column - 1 :]
        lines[edit.line - 1 : edit.end_line] = [before + edit.text + after]
    assert "".join(lines) == plan(repairs(text), text).text
