"""What stands ready for pre-commit, GitHub and GitLab works, and is what these understand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.doors import HELPER, SCRIPT
from tests.test_diff_base import git

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
USAGE = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
CLEAN = SCRIPT.replace("note(total, loss)", "0.0")


def run(*arguments: str | Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return subprocess.run(
        [*map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def blocks(language: str) -> list[str]:
    """The blocks of code in the guide."""
    return re.findall(rf"^```{language}\n(.*?)^```$", USAGE, re.MULTILINE | re.DOTALL)


COMMANDS = sorted(
    set(re.findall(r"(?:- |\$ )(?:run: )?(xla-lint check [^`\n]*)", "\n".join(blocks("(?:yaml|console)"))))
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, a repository with a clean program of two files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(CLEAN)
    (tmp_path / "helper.py").write_text(HELPER)
    git("init")
    git("add", ".")
    git("commit", "-m", "clean")
    return tmp_path


class TestPreCommit:
    def hook(self, name: str, repository: Path) -> subprocess.CompletedProcess[str]:
        return run("pre-commit", "run", name, "--all-files", folder=repository, PRE_COMMIT_HOME=str(repository.parent))

    def test_the_manifest_is_valid(self) -> None:
        done = run("pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml", folder=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr

    @pytest.mark.skipif(not (ROOT / ".git").exists(), reason="pre-commit clones the repository")
    def test_the_hooks_pass_and_fail(self, repository: Path) -> None:
        head = run("git", "rev-parse", "HEAD", folder=ROOT).stdout.strip()
        hooks = [{"id": name} for name in ("xla-lint", "xla-lint-change")]
        config = {"repos": [{"repo": str(ROOT), "rev": head, "hooks": hooks}]}
        (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        git("add", ".")
        first = self.hook("xla-lint", repository)
        assert first.returncode == 0, first.stdout + first.stderr
        (repository / "train.py").write_text(SCRIPT)
        git("add", ".")
        for name in ("xla-lint", "xla-lint-change"):
            done = self.hook(name, repository)
            assert done.returncode == 1
            assert "helper.py:2:20: W9701 xla-value-read" in done.stdout
        git("commit", "-m", "worse")
        assert self.hook("xla-lint-change", repository).returncode == 0


class TestGithub:
    ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

    def test_the_action_is_valid(self) -> None:
        done = run("check-jsonschema", "--builtin-schema", "vendor.github-actions", ROOT / "action.yml", folder=ROOT)
        assert done.returncode == 0, done.stdout

    @pytest.mark.parametrize(("script", "status"), [(CLEAN, 0), (SCRIPT, 1)])
    def test_its_check(
        self, repository: Path, tmp_path_factory: pytest.TempPathFactory, script: str, status: int
    ) -> None:
        (repository / "train.py").write_text(script)
        (step,) = [step for step in self.ACTION["runs"]["steps"] if step.get("name") == "Check"]
        temporary = tmp_path_factory.mktemp("runner")
        (temporary / "xla-lint").mkdir()
        (temporary / "xla-lint" / "bin").symlink_to(BIN)
        values = {"PATHS": "train.py helper.py", "ARGS": "--no-cache --select reads", "RUNNER_TEMP": str(temporary)}
        done = run("bash", "-euo", "pipefail", "-c", step["run"], folder=repository, **values)
        assert done.returncode == status, done.stderr
        assert ("::warning file=helper.py,line=2,endLine=2,col=20,endColumn=32," in done.stdout) is bool(status)

    def test_it_names_its_inputs(self) -> None:
        used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
        assert used == set(self.ACTION["inputs"])


class TestGuide:
    @pytest.mark.parametrize("block", blocks("yaml"), ids=lambda block: block.split(":")[0])
    def test_what_it_shows_is_valid(self, tmp_path: Path, block: str) -> None:
        kind = block.split(":", maxsplit=1)[0]
        if kind == "repos":
            (tmp_path / ".pre-commit-config.yaml").write_text(block)
            done = run("pre-commit", "validate-config", folder=tmp_path)
        else:
            head, schema = ("on: push\n", "github-workflows") if kind == "jobs" else ("", "gitlab-ci")
            (tmp_path / "ci.yml").write_text(head + block)
            done = run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", "ci.yml", folder=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr

    def test_it_shows_each_kind(self) -> None:
        assert {block.split(":")[0] for block in blocks("yaml")} == {"repos", "jobs", "xla-lint"}

    @pytest.mark.parametrize("command", COMMANDS)
    def test_the_commands_that_it_shows_run(self, repository: Path, command: str) -> None:
        (repository / "src").mkdir()
        (repository / "train.py").rename(repository / "src" / "train.py")
        (repository / "train.py").write_text(CLEAN)
        (repository / "train.ipynb").write_text(json.dumps({"cells": []}))
        (repository / "baseline.json").write_text('{"version": 1, "findings": []}')
        done = run("bash", "-c", command, folder=repository)
        assert done.returncode == 0, done.stderr
