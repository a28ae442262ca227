"""docs/editors.md: what it has people write does what it says, as far as that can be run without the editors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from editor import COMMAND, PATIENCE

from tests.test_overlay import METERS, TRAIN

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GUIDE = (Path(__file__).parent.parent / "docs" / "editors.md").read_text(encoding="utf-8")
SERVE = ["xla-lint", "server"]
STRINGS = re.compile(r'"([^"]*)"')
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UNSAVED = METERS + "# typing\n"


def blocks(heading: str, language: str) -> list[str]:
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL)
    assert section is not None
    return [text for kind, text in BLOCK.findall(section[1]) if kind == language]


def command_in(text: str, start: str) -> list[str]:
    """The strings that follow in the same pair of brackets."""
    return STRINGS.findall(re.split(r"[})]", text[text.index(start) + len(start) :], maxsplit=1)[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "meters.py").write_text(METERS)
    return tmp_path


class TestServer:
    def test_vs_code(self) -> None:
        (block,) = blocks("VS Code", "json")
        settings = json.loads(block)
        assert [settings["glspc.server.command"], *settings["glspc.server.commandArguments"]] == SERVE

    def test_neovim(self) -> None:
        (block,) = blocks("Neovim", "lua")
        assert command_in(block, "cmd = {") == SERVE

    def test_helix(self) -> None:
        (block,) = blocks("Helix", "toml")
        table = tomllib.loads(block)
        server = table["language-server"]["xla-lint"]
        assert [server["command"], *server["args"]] == SERVE
        assert "xla-lint" in table["language"][0]["language-servers"]

    def test_emacs(self) -> None:
        mode, eglot = blocks("Emacs", "elisp")
        assert command_in(mode, "lsp-stdio-connection '(") == SERVE
        assert command_in(eglot, "python-ts-mode) . (") == SERVE
        for block in (mode, eglot):
            assert block.count("(") == block.count(")")

    def test_pycharm(self) -> None:
        (block,) = blocks("PyCharm", "text")
        assert block.split() == SERVE


def test_the_table_of_costs_is_filled() -> None:
    rows = re.findall(r"^\| (.+?) \| ([\d.]+) \|$", GUIDE, re.MULTILINE)
    assert len(rows) == 5
    costs = [float(cost) for _, cost in rows]
    assert costs == sorted(costs)


class TestPylint:
    def test_in_vs_code_sees_unsaved_text(self, folder: Path) -> None:
        settings = json.loads(blocks("Through pylint", "json")[0])
        command = [sys.executable, "-m", "pylint", *settings["pylint.args"], "--output-format=json", "--from-stdin"]
        found = subprocess.run(
            [*command, str(folder / "meters.py")],
            input=UNSAVED.encode(),
            capture_output=True,
            cwd=folder,
            check=False,
        )
        assert [message["symbol"] for message in json.loads(found.stdout)] == ["xla-value-read"]

    def test_from_a_command_sees_unsaved_text(self, folder: Path) -> None:
        for line in blocks("Through pylint", "console")[0].splitlines():
            called = line.removeprefix("$ ").removesuffix(" < buffer").replace("train.py", "meters.py")
            name, *arguments = called.split()
            program = COMMAND.with_name(name)
            done = subprocess.run(
                [program, *arguments], input=UNSAVED.encode(), capture_output=True, cwd=folder, check=False
            )
            document: Any = json.loads(done.stdout)
            assert "xla-value-read" in json.dumps(document)

    def test_in_python_lsp_server_sees_unsaved_text(self, folder: Path) -> None:
        settings = json.loads(blocks("Through pylint", "json")[1])
        uri = (folder / "meters.py").as_uri()
        item = {"uri": uri, "languageId": "python", "version": 1, "text": UNSAVED}
        messages: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": {"rootUri": folder.as_uri(), "capabilities": {}}},
            {"method": "initialized", "params": {}},
            {"method": "workspace/didChangeConfiguration", "params": {"settings": settings}},
            {"method": "textDocument/didOpen", "params": {"textDocument": item}},
        ]
        found = next(said_by_pylsp(folder, messages))
        assert [each["code"] for each in found if each["source"] == "pylint"] == ["W9701"]


def said_by_pylsp(folder: Path, messages: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """What python-lsp-server publishes after some messages; its notebooks are too new for our client."""
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "pylsp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env={**os.environ, "PATH": path}
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        giving_up = threading.Timer(PATIENCE, server.kill)
        giving_up.start()
        try:
            for message in messages:
                body = json.dumps({"jsonrpc": "2.0", **message}).encode()
                server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                server.stdin.flush()
            while line := server.stdout.readline():
                length = int(line.partition(b":")[2])
                while server.stdout.readline().strip():
                    pass
                answer = json.loads(server.stdout.read(length))
                if answer.get("method") == "textDocument/publishDiagnostics":
                    yield answer["params"]["diagnostics"]
        finally:
            giving_up.cancel()
            server.kill()
