"""The primer: what it clones, what it records, and what it tells of a change. A local repository stands in."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import primer
import pytest
from primer import HOST, LIST, Repository, clone, main

TRAIN = """\
import torch
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(2, 2).to(device)
for _ in range(9):
    loss = model(torch.ones(2, 2, device=device)).sum()
    print(loss.item())
    torch_xla.sync()
"""
TRAP = "open('was_run', 'w')\n"
PYTHON_2 = "Missing parentheses in call to 'print'. Did you mean print(...)?"
NAME = "someone/something"
READ = "xla-value-read"
Captured = pytest.CaptureFixture[str]


def git(folder: Path, *arguments: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *author, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that git finds where it would look for one on GitHub."""
    folder = tmp_path / "mirror" / NAME
    (folder / "lib").mkdir(parents=True)
    (folder / "train.py").write_text(TRAIN)
    (folder / "lib" / "old.py").write_text("import torch_xla\nprint 'Python 2'\n")
    (folder / "plain.py").write_text("x = 1\n")
    (folder / "weights.bin").write_text("not source\n")
    for name in ("rich", "astroid", "sitecustomize"):
        (folder / f"{name}.py").write_text(TRAP)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    config = tmp_path / "gitconfig"
    config.write_text(
        f'[url "{(tmp_path / "mirror").as_uri()}/"]\n\tinsteadOf = {HOST}\n'
        "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    return folder


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commit: str, extra: str = "") -> int:
    chosen = tmp_path / "list.toml"
    chosen.write_text(f'[[repository]]\nname = "{NAME}"\ncommit = "{commit}"\n{extra}')
    options = ["run", "--list", str(chosen), "--into", str(tmp_path / "clones"), "--out", str(tmp_path / "out.json")]
    monkeypatch.setattr("sys.argv", ["primer.py", *options])
    return main()


def compare(monkeypatch: pytest.MonkeyPatch, *results: Path) -> int:
    monkeypatch.setattr("sys.argv", ["primer.py", "compare", *map(str, results)])
    return main()


def result(folder: Path, name: str, findings: dict[str, list[str]], commit: str = "c") -> Path:
    entry = {"commit": commit, "files": 1, "outside": 0, "findings": findings, "problems": []}
    path = folder / name
    path.write_text(json.dumps({NAME: entry}))
    return path


class TestRun:
    def test_what_is_recorded(self, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        commit = git(origin, "rev-parse", "HEAD")
        assert run(tmp_path, monkeypatch, commit) == 0
        assert json.loads((tmp_path / "out.json").read_text()) == {
            NAME: {
                "commit": commit,
                "files": 6,
                "outside": 4,
                "findings": {READ: ["train.py:7"]},
                "problems": [f"lib/old.py:2: syntax error: {PYTHON_2}"],
            }
        }
        clone = tmp_path / "clones" / NAME
        assert not (clone / "weights.bin").exists()
        assert not list(tmp_path.rglob("was_run")) + list(primer.ROOT.glob("was_run"))

    def test_a_clone_is_used_again(self, origin: Path, tmp_path: Path) -> None:
        first = Repository(NAME, git(origin, "rev-parse", "HEAD"), (".",))
        train = clone(first, tmp_path / "clones") / "train.py"
        (origin / "train.py").write_text("import torch_xla\n")
        git(origin, "commit", "--quiet", "-am", "second")
        clone(Repository(NAME, git(origin, "rev-parse", "HEAD"), (".",)), tmp_path / "clones")
        assert train.read_text() == "import torch_xla\n"
        origin.rename(origin.with_name("elsewhere"))
        clone(first, tmp_path / "clones")
        assert train.read_text() == TRAIN

    def test_some_paths(self, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        run(tmp_path, monkeypatch, git(origin, "rev-parse", "HEAD"), 'paths = ["lib", "plain.py"]\n')
        found = json.loads((tmp_path / "out.json").read_text())[NAME]
        assert (found["files"], found["findings"]) == (2, {})

    @pytest.mark.usefixtures("origin")
    def test_a_commit_that_is_not_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
    ) -> None:
        assert run(tmp_path, monkeypatch, "0" * 40) == 2
        assert capsys.readouterr().err.startswith("primer: git fetch in ")

    def test_an_error_of_the_linter_fails_the_run(
        self, origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
    ) -> None:
        def lint(repository: Repository, _: Path) -> dict[str, object]:
            problems = ["train.py:7: internal error in xla-lint"]
            return {"commit": repository.commit, "files": 1, "outside": 0, "findings": {}, "problems": problems}

        monkeypatch.setattr(primer, "lint", lint)
        assert run(tmp_path, monkeypatch, git(origin, "rev-parse", "HEAD")) == 1
        assert f"{NAME}: train.py:7: internal error" in capsys.readouterr().err


class TestCompare:
    def test_the_same(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
        old = result(tmp_path, "old.json", {READ: ["a.py:1"]})
        assert compare(monkeypatch, old, old) == 0
        assert capsys.readouterr().out == "no difference\n"

    def test_what_came_and_went(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
        old = result(tmp_path, "old.json", {READ: ["a.py:1", "a.py:1", "a.py:2"]})
        new = result(tmp_path, "new.json", {READ: ["a.py:1", "a.py:2"], "xla-torch-save": ["b/c.py:3"]})
        assert compare(monkeypatch, old, new) == 1
        assert capsys.readouterr().out.splitlines() == [
            f"- {READ} {HOST}{NAME}/blob/c/a.py#L1",
            f"+ xla-torch-save {HOST}{NAME}/blob/c/b/c.py#L3",
        ]

    def test_results_that_do_not_compare(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
    ) -> None:
        old = result(tmp_path, "old.json", {READ: ["a.py:1"]})
        assert compare(monkeypatch, old, result(tmp_path, "new.json", {}, commit="d")) == 1
        (tmp_path / "none.json").write_text("{}")
        assert compare(monkeypatch, old, tmp_path / "none.json") == 1
        assert capsys.readouterr().out.splitlines() == [
            f"! {NAME}: not at the same commit",
            f"! {NAME}: not in both results",
        ]


class TestRecord:
    """The result in the repository is that of its list."""

    RECORD = LIST.with_suffix(".json")

    def test_it_is_of_the_same_repositories_and_commits(self) -> None:
        recorded = {name: entry["commit"] for name, entry in json.loads(self.RECORD.read_text()).items()}
        assert recorded == {repository.name: repository.commit for repository in primer.listed(LIST)}
        assert len(recorded) >= 25

    def test_it_holds_places_and_no_code(self) -> None:
        for entry in json.loads(self.RECORD.read_text()).values():
            assert entry.keys() == {"commit", "files", "outside", "findings", "problems"}
            places = [place for found in entry["findings"].values() for place in found]
            assert all(re.fullmatch(r"[^:]+\.py:\d+", place) for place in places)
            assert not any("internal error" in problem for problem in entry["problems"])
