"""The whole linter as one function: a module in, findings out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xla_lint.program.analysis import Program, analyse
from xla_lint.program.faults import Containment
from xla_lint.program.project import Project
from xla_lint.program.scope import Domain, Scope, Version, domains, target_version
from xla_lint.rules import all_rules
from xla_lint.rules.base import Confidence, Finding, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from astroid import nodes

    from xla_lint.program.events import Event
    from xla_lint.program.faults import Fault

SUREST_FIRST = (Confidence.HIGH, Confidence.CONTROL_FLOW, Confidence.INFERENCE)


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
    faults: list[Fault] | None = None,
) -> list[Finding]:
    """The findings of one module, in the order of its lines.

    `symbols` limits the rules that run; None runs every one, advice included.
    `faults` takes the errors inside the engine that ended the analysis of one function; without it, the first one is
    raised.

    Raises:
        Exception: an error inside the engine.
    """
    own = domains(module, settings.scope)
    imported = is_imported(module, project)
    found = own | {Domain.XLA} if imported else own
    speaking = [rule for rule in all_rules() if Domain.XLA in found or rule.domain in found]
    speaking = [rule for rule in speaking if symbols is None or rule.symbol in symbols]
    if not speaking:
        return []
    target = settings.target or target_version(project)
    findings: list[Finding] = []
    contained: list[Fault] = []
    for program in analyse(module, project, target, alone=bool(own) or not imported):
        contained += program.faults
        findings += findings_in(program, speaking, bool(own), contained)
    if faults is not None:
        faults += contained
    elif contained:
        raise contained[0].error
    findings.sort(key=lambda f: (SUREST_FIRST.index(f.confidence), f.via, f.message), reverse=True)
    unique = {(f.node.lineno or 0, f.node.col_offset or 0, f.rule.symbol): f for f in findings}
    return [unique[place] for place in sorted(unique)]


def is_imported(module: nodes.Module, project: Project) -> bool:
    """Whether an XLA program of the project imports a module, or a launch script runs it as one."""
    path = project.file_of(module)
    return path is not None and project.is_part(path)


def concerned(module: nodes.Module, project: Project, settings: Settings) -> bool:
    """Whether any rule has a say in a module."""
    return bool(domains(module, settings.scope)) or is_imported(module, project)


def findings_in(program: Program, speaking: list[type[Rule]], own: bool, faults: list[Fault]) -> Iterator[Finding]:
    """What the rules say of the module that is checked, as part of one program.

    `own` tells whether the module belongs to an XLA program by its own imports; else messages say through which one.
    """
    listeners: dict[type[Event], list[Rule]] = defaultdict(list)
    for rule in [kind(program) for kind in speaking]:
        for event_type in rule.listens:
            listeners[event_type].append(rule)
    via = "" if own or program.entry is None else f" (part of the XLA program {program.entry.name})"
    for event in program.events:
        for rule in listeners[type(event)]:
            with Containment(faults, event.node):
                for finding in rule.check(event):
                    if program.alone or finding.node.root() is program.module:
                        yield replace(finding, via=via) if via else finding
