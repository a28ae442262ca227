"""Run the linter over public repositories at fixed commits, and tell what a change adds or takes away.

    python scripts/primer.py run --out after.json
    python scripts/primer.py compare scripts/primer.json after.json

`primer.toml` lists the repositories, and `primer.json` is the result of the last run. Each repository is cloned once,
the Python files of its commit alone, into the user's cache or into the folder that `--into` names. git asks for them
where its own configuration says: with `url.<base>.insteadOf` set, at a mirror.

A result holds, for each repository: its commit, how many files were checked and how many of them are outside the XLA
scope, the places of the findings of each rule, advice included, and what could not be checked. It holds no code.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts" / "primer.toml"
HOST = "https://github.com/"
WANTED = ("*.py", "pyproject.toml", "setup.cfg", "requirements.txt")
"""What is fetched: source, and what marks a project or declares its torch_xla."""
FAILED = "internal error"
"""How the linter begins to tell of an error of its own."""
Result = dict[str, dict[str, Any]]
"""By repository: `commit`, `files`, `outside`, `findings` (places by symbol) and `problems`."""


class PrimerError(Exception):
    """A repository could not be cloned or linted; its text says why."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A public repository at one commit, and what of it is linted."""

    name: str
    """`owner/name`."""
    commit: str
    paths: tuple[str, ...]


def listed(path: Path) -> list[Repository]:
    """The repositories of a list."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["repository"]
    return [Repository(table["name"], table["commit"], tuple(table.get("paths", ["."]))) for table in tables]


def git(folder: Path, *arguments: str) -> str:
    """What git prints.

    Raises:
        PrimerError: git failed.
    """
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PrimerError(f"git {arguments[0]} in {folder}: {done.stderr.strip()}")
    return done.stdout.strip()


def clone(repository: Repository, into: Path) -> Path:
    """The folder that holds a repository at its commit; nothing is fetched where it is there already.

    Raises:
        PrimerError: it cannot be had.
    """
    folder = into / repository.name
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "--quiet")
        git(folder, "remote", "add", "origin", HOST + repository.name)
        git(folder, "sparse-checkout", "set", "--no-cone", *WANTED)
    mark = f"refs/primer/{repository.commit}"
    if not git(folder, "for-each-ref", mark):
        git(folder, "fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", repository.commit)
        git(folder, "checkout", "--quiet", "--detach", repository.commit)
        git(folder, "update-ref", mark, repository.commit)
    git(folder, "checkout", "--quiet", "--force", "--detach", repository.commit)
    return folder


def lint(repository: Repository, folder: Path) -> dict[str, Any]:
    """What this checkout's linter says of a clone.

    The linter runs outside the clone, so that no module of the clone can take the place of one that is imported.

    Raises:
        PrimerError: it did not come to its end.
    """
    paths = [str(folder / path) for path in repository.paths]
    command = [sys.executable, "-m", "xla_lint", "check", "--format=json", "--enable=all", *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2) or not done.stdout:
        raise PrimerError(f"{repository.name}: the linter ended with {done.returncode}: {done.stderr.strip()}")
    said = json.loads(done.stdout)
    findings: dict[str, list[str]] = {}
    for finding in said["findings"]:
        findings.setdefault(finding["symbol"], []).append(place(folder, finding))
    return {
        "commit": repository.commit,
        "files": said["files"]["checked"],
        "outside": said["files"]["outside_scope"],
        "findings": {symbol: findings[symbol] for symbol in sorted(findings)},
        "problems": [f"{place(folder, problem)}: {problem['message']}" for problem in said["problems"]],
    }


def place(folder: Path, item: dict[str, Any]) -> str:
    """`path:line` of a finding or a problem, below the clone's folder."""
    path = Path(os.path.relpath(item["path"], folder)).as_posix()
    return f"{path}:{item['line']}" if item["line"] else path


def run(options: argparse.Namespace) -> int:
    """Lint every repository and write the result; 1 if the linter had an error of its own.

    Raises:
        PrimerError: a repository could not be cloned or linted.
    """
    result: Result = {}
    for repository in listed(options.list):
        result[repository.name] = lint(repository, clone(repository, options.into))
        print(repository.name, summary(result[repository.name]), file=sys.stderr, flush=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    totals: Counter[str] = Counter()
    for entry in result.values():
        totals.update({symbol: len(places) for symbol, places in entry["findings"].items()})
    for symbol, count in sorted(totals.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:6} {symbol}")
    failures = [f"{name}: {p}" for name, entry in result.items() for p in entry["problems"] if FAILED in p]
    print("\n".join(failures), file=sys.stderr)
    return bool(failures)


def summary(entry: dict[str, Any]) -> str:
    """One line on a repository's result."""
    count = sum(map(len, entry["findings"].values()))
    inside = entry["files"] - entry["outside"]
    return f"{count} findings in {inside} of {entry['files']} files, {len(entry['problems'])} problems"


def compare(options: argparse.Namespace) -> int:
    """Print what the second result has that the first lacks, and the reverse; 1 if they differ."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (options.old, options.new))
    lines = [line for name in sorted({*old, *new}) for line in difference(name, old.get(name), new.get(name))]
    print("\n".join(lines) if lines else "no difference")
    return bool(lines)


def difference(name: str, old: dict[str, Any] | None, new: dict[str, Any] | None) -> Iterator[str]:
    """What changed in one repository, a line each: `+` for what came, `-` for what went."""
    if old is None or new is None or old["commit"] != new["commit"]:
        yield f"! {name}: {'not in both results' if old is None or new is None else 'not at the same commit'}"
        return
    said = [
        Counter(
            [*((where, symbol) for symbol, places in entry["findings"].items() for where in places)]
            + [(problem, "") for problem in entry["problems"]]
        )
        for entry in (old, new)
    ]
    for sign, counts in (("-", said[0] - said[1]), ("+", said[1] - said[0])):
        for where, symbol in sorted(counts.elements()):
            path, _, line = where.rpartition(":")
            address = f"{HOST}{name}/blob/{new['commit']}/{path}#L{line}"
            yield f"{sign} {symbol} {address}" if symbol else f"{sign} {name}: {where}"


def main() -> int:
    """Run what the command line asks for; 2 if a repository could not be had."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="lint every repository")
    running.add_argument("--out", type=Path, required=True, help="where the result is written")
    running.add_argument("--list", type=Path, default=LIST, help="the repositories (default: primer.toml)")
    running.add_argument(
        "--into", type=Path, default=user_cache_path("xla-lint") / "primer", help="where they are cloned"
    )
    running.set_defaults(do=run)
    comparing = commands.add_parser("compare", help="tell what came and went between two results")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.set_defaults(do=compare)
    options = parser.parse_args()
    try:
        status: int = options.do(options)
    except PrimerError as error:
        print(f"primer: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
