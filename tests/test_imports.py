"""Imports point one way: between layers, between the rooms of `program/`, and in circles nowhere; none is of torch."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "xla_lint"
LAYERS = ("knowledge", "fixes", "program", "rules", "engine", "doors")
BELOW_DOORS = frozenset(LAYERS[:-1])
RUNTIME = frozenset({"torch", "torch_xla"})
ROOMS = ("backend", "syntax", "domain", "project", "machine", "library", "queries", "interpreter")
"""The rooms of `program/`, lowest first."""
OPEN_TO_RULES = (
    "xla_lint.fixes.changes",
    "xla_lint.knowledge",
    "xla_lint.program.backend",
    "xla_lint.program.domain",
    "xla_lint.program.queries",
    "xla_lint.rules",
)
"""What a rule may import of the package."""
INTERNAL = {"attributes", "project"}
"""Attributes of values and programs that rules leave to the queries."""
TYPES = "TYPE_CHECKING"
DOMAIN = "domain."
"""The room of the types that know each other: a value says in which loops it changes, a loop what it iterates."""


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


def imports_of(module: str, *, types: bool = True) -> list[str]:
    """What a module imports; `types`: for its types alone as well."""
    package = ["xla_lint", *Path(module).parts[:-1]]
    source = (PACKAGE / module).read_text(encoding="utf-8")
    return list(imports(source if types else without_types(source), package))


def without_types(source: str) -> str:
    """A module's source without what stands under `if TYPE_CHECKING:`."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == TYPES)]
    return ast.unparse(tree)


def program_imports(*, types: bool = True) -> dict[str, set[str]]:
    """What each module of `program/` imports of the others: `domain.loops` to `{domain.events, ...}`."""
    files = [module for module in modules() if module.startswith("program/")]
    named = {dotted(module): imports_of(module, types=types) for module in files}
    return {
        name: {target for found in imported if (target := module_of(found, named)) not in (None, name)}  # type: ignore[misc]
        for name, imported in named.items()
    }


def dotted(module: str) -> str:
    """`program/domain/loops.py` as `domain.loops`; a package by its own name."""
    return ".".join(Path(module).with_suffix("").parts[1:]).removesuffix("__init__").rstrip(".")


def module_of(imported: str, known: Collection[str]) -> str | None:
    """The module of `program/` that an imported name is, or is a member of; None for any other."""
    name = imported.removeprefix("xla_lint.program.")
    if name == imported:
        return None
    return next((found for found in (name, name.rpartition(".")[0]) if found in known), None)


def circles(graph: dict[str, set[str]]) -> set[str]:
    """The modules from which a path of imports leads back to them."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        pending = [start]
        while pending:
            new = graph[pending.pop()] - found
            found |= new
            pending += new
        return found

    return {module for module in graph if module in reached(module)}


@pytest.mark.parametrize("module", [module for module in modules() if module.startswith("rules/")])
def test_a_rule_imports_what_is_open_to_rules(module: str) -> None:
    own = [name for name in imports_of(module) if name.startswith("xla_lint.")]
    assert not [name for name in own if not f"{name}.".startswith(tuple(f"{room}." for room in OPEN_TO_RULES))]


@pytest.mark.parametrize("module", [module for module in modules() if module.startswith("rules/")])
def test_a_rule_asks_for_what_objects_and_projects_hold(module: str) -> None:
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    assert not {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & INTERNAL


def test_rooms_import_lower_rooms_alone() -> None:
    rooms = {module: module.partition(".")[0] for module in program_imports() if module}
    assert set(rooms.values()) == set(ROOMS)
    upward = {
        (module, target)
        for module, targets in program_imports().items()
        for target in targets
        if module and target and ROOMS.index(rooms[target]) > ROOMS.index(rooms[module])
    }
    assert not upward


def test_no_module_of_the_analysis_imports_itself_through_others() -> None:
    assert not circles(program_imports(types=False))
    assert all(module.startswith(DOMAIN) for module in circles(program_imports()))


def test_an_import_for_types_is_told_apart() -> None:
    source = "import ast\nif TYPE_CHECKING:\n    from xla_lint import plugin\n"
    assert list(imports(source, [])) == ["ast", "xla_lint.plugin"]
    assert list(imports(without_types(source), [])) == ["ast"]


def test_a_circle_is_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}


@pytest.mark.parametrize("module", [m for m in modules() if not m.startswith(("fixes/", "cli/fix"))])
def test_only_fixes_import_libcst(module: str) -> None:
    assert "libcst" not in {name.partition(".")[0] for name in imports_of(module)}


def test_what_rules_hand_out_needs_no_libcst() -> None:
    assert "libcst" not in {name.partition(".")[0] for name in imports_of("fixes/changes.py")}


@pytest.mark.parametrize("module", [module for module in modules() if module.startswith("fixes/")])
def test_fixes_know_nothing_of_findings(module: str) -> None:
    assert all(name.startswith("xla_lint.fixes.") for name in imports_of(module) if name.startswith("xla_lint."))


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
    assert [LAYERS[layer_of(name)] for name in found] == ["rules", "doors", "doors"]


@pytest.mark.parametrize("module", [m for m in modules() if m.startswith("runtime/")])
def test_the_runtime_half_needs_no_command(module: str) -> None:
    assert not [name for name in imports_of(module) if name.startswith("xla_lint.cli")]
