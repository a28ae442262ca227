"""Imports point one way, doors to rules to program to knowledge, and linting needs no torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "xla_lint"
LAYERS = ("knowledge", "program", "rules", "engine", "doors")
BELOW_DOORS = frozenset(LAYERS[:-1])
RUNTIME = frozenset({"torch", "torch_xla"})


def modules() -> list[str]:
    return sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if "_fixtures" not in path.parts)


def layer_of(dotted: str) -> int:
    """The layer of `xla_lint.<first>...`; what is no room of its own is a door."""
    first = dotted.split(".")[1] if "." in dotted else ""
    if first == "pages":
        first = "engine"
    return LAYERS.index(first if first in BELOW_DOORS else "doors")


def imports(source: str, package: list[str]) -> Iterator[str]:
    """The absolute dotted names that a module of `package` imports, wherever the import stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def imports_of(module: str) -> list[str]:
    package = ["xla_lint", *Path(module).parts[:-1]]
    return list(imports((PACKAGE / module).read_text(encoding="utf-8"), package))


@pytest.mark.parametrize("module", modules())
def test_imports_point_to_the_same_layer_or_a_lower_one(module: str) -> None:
    own = layer_of(".".join(["xla_lint", *Path(module).with_suffix("").parts]))
    upward = [name for name in imports_of(module) if name.startswith("xla_lint.") and layer_of(name) > own]
    assert not upward, f"{module} is in '{LAYERS[own]}' and imports {upward}"


@pytest.mark.parametrize("module", [m for m in modules() if not m.startswith("runtime/")])
def test_the_static_half_imports_no_torch(module: str) -> None:
    assert not RUNTIME.intersection(name.partition(".")[0] for name in imports_of(module))


def test_an_upward_import_is_seen() -> None:
    source = "from ..rules import base\nfrom xla_lint import plugin\nimport xla_lint.cli.main"
    found = list(imports(source, ["xla_lint", "program"]))
    assert found == ["xla_lint.rules.base", "xla_lint.plugin", "xla_lint.cli.main"]
    assert [layer_of(name) for name in found] == [2, 4, 4]
