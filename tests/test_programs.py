"""Programs of several files: each file is judged as part of the program, linted alone or with the others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import decode, parse, read

PROGRAMS = Path(__file__).parent / "programs"
FILES = sorted(PROGRAMS.rglob("*.py"))
EXPECT = re.compile(r"#\s*expect:\s*([a-z-]+(?:,\s*[a-z-]+)*)")
Findings = set[tuple[int, str]]


def expected(path: Path) -> Findings:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return {
        (number, symbol.strip())
        for number, line in lines
        if (match := EXPECT.search(line))
        for symbol in match[1].split(",")
    }


def found(path: Path, project: Project) -> Findings:
    module = parse(decode(read(path)), path)
    findings = check_module(module, project, Settings(), default_symbols())
    return {(finding.node.lineno or 0, finding.rule.symbol) for finding in findings}


PAIRS = sorted(path.name.removeprefix("bad_") for path in PROGRAMS.glob("bad_*"))


@pytest.mark.parametrize("pair", PAIRS)
def test_a_bad_program_has_a_twin_that_stays_silent(pair: str) -> None:
    bad, good = (sorted((PROGRAMS / f"{kind}_{pair}").glob("*.py")) for kind in ("bad", "good"))
    assert len(bad) in range(3, 7)
    assert [path.name for path in bad] == [path.name for path in good]
    assert any(expected(path) for path in bad)
    assert not any(expected(path) for path in good)


def project_of(path: Path) -> Project:
    return Project(PROGRAMS / path.relative_to(PROGRAMS).parts[0])


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PROGRAMS)))
def test_a_file_alone(path: Path) -> None:
    assert found(path, project_of(path)) == expected(path)


@pytest.mark.parametrize("program", sorted(PROGRAMS.iterdir()), ids=lambda path: path.name)
@pytest.mark.parametrize("order", [1, -1])
def test_all_files_together_in_any_order(program: Path, order: int) -> None:
    project = Project(program)
    for path in sorted(program.rglob("*.py"))[::order]:
        assert found(path, project) == expected(path), path


def test_a_message_names_the_other_files() -> None:
    path = PROGRAMS / "speech" / "speech" / "meters.py"
    (finding,) = check_module(parse(decode(read(path)), path), project_of(path), Settings(), {"xla-value-read"})
    assert re.search(r"in the step loop of line 5 of \S*speech/loop\.py", finding.message)
    assert finding.message.endswith("(part of the XLA program train.py)")


def test_a_newer_text_than_the_file_holds_is_what_counts() -> None:
    path = PROGRAMS / "speech" / "speech" / "meters.py"
    text = path.read_text(encoding="utf-8").replace("float(value)", "value")
    assert not check_module(parse(text, path), project_of(path), Settings(), default_symbols())


TRAINING = """
import torch
from torch import nn

model, device = nn.Linear(4, 4), torch.device("xla")
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 4, device=device)).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
LAUNCH = """
from sagemaker.huggingface import HuggingFace, TrainingCompilerConfig

HuggingFace(entry_point="train.py", source_dir="src", {compiler} instance_type="ml.p3.2xlarge", instance_count=1).fit()
"""


@pytest.mark.parametrize(("compiler", "said"), [("compiler_config=TrainingCompilerConfig(),", True), ("", False)])
def test_a_launch_script_makes_its_entry_point_an_xla_program(tmp_path: Path, compiler: str, said: bool) -> None:
    (tmp_path / "launch.py").write_text(LAUNCH.replace("{compiler}", compiler), encoding="utf-8")
    (tmp_path / "src").mkdir()
    path = tmp_path / "src" / "train.py"
    path.write_text(TRAINING, encoding="utf-8")
    symbols = {symbol for _, symbol in found(path, Project(tmp_path))}
    assert ("xla-value-read" in symbols) is said
