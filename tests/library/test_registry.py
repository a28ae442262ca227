"""How models of libraries are registered and found."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module
from xla_lint.program import library
from xla_lint.program.domain.values import NONE, Instance, Sequence, Value
from xla_lint.program.library import registry
from xla_lint.program.library.registry import (
    ATTRIBUTES,
    FUNCTIONS,
    HOOKS,
    ITERATIONS,
    MANAGERS,
    METHODS,
    DuplicateHandlerError,
    Table,
    function,
    methods,
    names_of,
)
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(library.__path__[0])
TABLES = (FUNCTIONS, METHODS, ATTRIBUTES, ITERATIONS, MANAGERS, HOOKS)
COUNT = (
    "from xla_lint.program.library import registry as r\n"
    "tables = r.FUNCTIONS, r.METHODS, r.ATTRIBUTES, r.ITERATIONS, r.MANAGERS, r.HOOKS\n"
    "print([len(table.handlers) for table in tables])\n"
)


def run(code: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def known() -> str:
    return str([len(table.handlers) for table in TABLES])


def first(*_: object) -> Value:
    return NONE


def second(*_: object) -> Value:
    return NONE


def test_two_handlers_for_one_name_are_an_error() -> None:
    with pytest.raises(DuplicateHandlerError, match=r"torch\.device"):
        function("torch.device")(first)


def test_two_handlers_for_one_method_are_an_error() -> None:
    methods("test.Thing", "a", "b")(first)
    try:
        methods("test.Thing", "a")(first)
        with pytest.raises(DuplicateHandlerError, match=r"test\.Thing b"):
            methods("test.Thing", "b")(second)
    finally:
        METHODS.remove("test.Thing", "a")
        METHODS.remove("test.Thing", "b")


def test_two_handlers_for_one_kind_of_value_are_an_error() -> None:
    with pytest.raises(DuplicateHandlerError, match="Sequence insert"):
        methods(Sequence, "insert")(first)


def test_the_longest_name_counts() -> None:
    table: Table[registry.FunctionHandler] = Table()
    table.register("a.", first)
    assert [table.find(name) for name in ("a.b", "a.b.c", "a", "ab.c")] == [first, first, None, None]
    table.register("a.b.", second)
    assert [table.find(name) for name in ("a.b", "a.b.c", "a.c.b")] == [first, second, first]
    table.remove("a.b.")
    assert table.find("a.b.c") is first


def test_a_handler_for_a_method_comes_before_that_for_all_others() -> None:
    table: Table[registry.FunctionHandler] = Table()
    table.register("a.", first, "x")
    table.register("a.", second)
    assert (table.find("a.B", "x"), table.find("a.B", "y")) == (first, second)


def test_any_model_is_one_of_torch_where_its_library_has_nothing_to_say() -> None:
    model = Instance(None, "transformers.PreTrainedModel", model=True)
    own, general = METHODS.for_object(model, "to")
    assert own is METHODS.find("transformers.Trainer", "to")
    assert general is METHODS.find("torch.nn.Linear", "to")
    assert len(METHODS.for_object(Instance(None, "torch.nn.Linear", model=True), "to")) == 1


def test_names_from_the_longest() -> None:
    assert names_of("a.b.c") == ["a.b.c", "a.b.", "a."]


def test_every_module_is_found() -> None:
    names = [path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"]
    assert all(f"xla_lint.program.library.{name}" in sys.modules for name in names)


def test_modules_may_be_imported_in_any_order() -> None:
    code = (
        "import sys\n"
        "from importlib import import_module\n"
        "for name in sys.argv[1:]:\n"
        "    for module in [m for m in sys.modules if m.startswith('xla_lint')]: del sys.modules[module]\n"
        "    import_module('xla_lint.program.library.' + name)\n"
    )
    names = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
    body = "".join(f"    {line}\n" for line in COUNT.splitlines())
    assert set(run(code + body, *names)) == {known()}


def test_modules_are_found_in_a_zip(tmp_path: Path) -> None:
    archive = tmp_path / "xla_lint.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in (ROOT / "xla_lint").rglob("*.py"):
            packed.write(path, path.relative_to(ROOT).as_posix())
        packed.write(ROOT / "xla_lint" / "knowledge" / "measured.json", "xla_lint/knowledge/measured.json")
    code = "import sys\nsys.path[:0] = [sys.argv[1]]\n" + COUNT + "print(r.__file__)\n"
    counts, origin = run(code, str(archive))
    assert counts == known()
    assert origin.startswith(str(archive))


class TestWorkedExample:
    """The library model that CONTRIBUTING shows, taken from its text."""

    @pytest.fixture
    def shown(self) -> tuple[str, str]:
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        section = text.partition("## Add a library model in one file\n")[2].partition("\n## ")[0]
        model, program = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
        return model, program

    @pytest.fixture
    def _added(self, shown: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Let the package find the file in a second folder of its own, as it finds those in the first."""
        (tmp_path / "speedometer.py").write_text(shown[0], encoding="utf-8")
        before = [dict(table.handlers) for table in TABLES]
        monkeypatch.setattr(library, "__path__", [*library.__path__, str(tmp_path)])
        library.load()
        yield
        for table, handlers in zip(TABLES, before, strict=True):
            for name in set(table.handlers) - set(handlers):
                table.remove(*name)
        del sys.modules["xla_lint.program.library.speedometer"]

    @pytest.mark.usefixtures("_added")
    def test_it_enables_the_finding(self, shown: tuple[str, str]) -> None:
        program = shown[1]
        found = check_module(parse(program, "train.py"), Project(), Settings())
        assert {(int(f.node.lineno or 0), f.rule.symbol) for f in found} == expected(program)

    def test_without_it_nothing_is_found(self, shown: tuple[str, str]) -> None:
        assert not check_module(parse(shown[1], "train.py"), Project(), Settings())
