"""The whole linter as one function: a module in, findings out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.program.analysis import analyse
from xla_lint.program.project import Project
from xla_lint.program.scope import Domain, Scope, Version, domains, target_version
from xla_lint.rules import all_rules
from xla_lint.rules.base import Finding, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Collection

    from astroid import nodes

    from xla_lint.program.events import Event


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user may choose."""

    scope: Scope = Scope.AUTO
    target: Version | None = None
    """The torch_xla release the code must run on; None: the project's own declaration, else the newest."""


def default_symbols() -> frozenset[str]:
    """The symbols of the rules that run unless the user asks for others."""
    return frozenset(rule.symbol for rule in all_rules() if rule.severity is not Severity.ADVICE)


def check_module(
    module: nodes.Module,
    project: Project,
    settings: Settings,
    symbols: Collection[str] | None = None,
) -> list[Finding]:
    """The findings of one module, in the order of its lines.

    `symbols` limits the rules that run; None runs every one, advice included.
    """
    found = domains(module, settings.scope)
    speaking = [rule for rule in all_rules() if Domain.XLA in found or rule.domain in found]
    speaking = [rule for rule in speaking if symbols is None or rule.symbol in symbols]
    if not speaking:
        return []
    program = analyse(module, project, settings.target or target_version(project))
    rules = [rule(program) for rule in speaking]
    listeners: dict[type[Event], list[Rule]] = defaultdict(list)
    for rule in rules:
        for kind in rule.listens:
            listeners[kind].append(rule)
    findings = [finding for event in program.events for rule in listeners[type(event)] for finding in rule.check(event)]
    unique = {(f.rule.symbol, f.node.lineno, f.node.col_offset): f for f in reversed(findings)}
    return sorted(unique.values(), key=lambda f: (f.node.lineno, f.node.col_offset, f.rule.symbol))
