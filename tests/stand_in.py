"""A stand-in for the engine, for tests of the doors: each `.item()` and `.tolist()` is a finding.

Loaded as a pylint plugin it takes the engine's place in pylint's worker processes too.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from astroid import nodes

from xla_lint import engine
from xla_lint.engine import Examined, Settings, membership_of
from xla_lint.program.project.project import Project
from xla_lint.rules import rule_named
from xla_lint.rules.base import Confidence, Finding

SYMBOLS = {"item": "xla-value-read", "tolist": "xla-value-read", "sync": "xla-redundant-sync"}
Call = tuple[nodes.Module, Project, Settings]
CALLS: list[Call] = []
"""What the engine was asked, when the fixture `calls` is in use."""


def examine(
    module: nodes.Module, project: Project, settings: Settings, symbols: Collection[str] | None = None
) -> Examined:
    CALLS.append((module, project, settings))
    if module.name == "crash":
        raise ValueError("an error\nof two lines")
    found = []
    for call in module.nodes_of_class(nodes.Call):
        name = call.func.attrname if isinstance(call.func, nodes.Attribute) else ""
        if name in SYMBOLS and (symbols is None or SYMBOLS[name] in symbols):
            rule = rule_named(SYMBOLS[name])
            facts = dict.fromkeys(re.findall(r"%\((\w+)\)s", rule.message), call.as_string())
            confidence = Confidence.INFERENCE if name == "tolist" else Confidence.HIGH
            found.append(Finding(rule, call, facts, confidence))
    return Examined(found, membership_of(module, project, settings).domains, [], [], [])


def register(_: Any) -> None:
    engine.examine = examine
