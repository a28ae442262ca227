"""The whole linter as one function: a module in, findings out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xla_lint.program.interpreter.analysis import analyse
from xla_lint.program.machine.internal_errors import InternalError
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Domain, Scope, Version, domains, target_version
from xla_lint.rules import all_rules, listeners
from xla_lint.rules.base import Confidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from astroid import nodes

    from xla_lint.program.queries import Program

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
    errors: list[InternalError] | None = None,
) -> list[Finding]:
    """The findings of one module, in the order of its lines.

    `symbols` limits the rules that run; None runs every one, advice included.
    `errors` takes the errors inside the engine that ended the analysis of one function; without it, the first one is
    raised.

    Raises:
        Exception: an error inside the engine.
    """
    own = domains(module, settings.scope)
    taken = taken_part(module, project)
    if not own and not taken:
        return []
    target = settings.target or target_version(project)
    findings: list[Finding] = []
    contained: list[InternalError] = []
    for program in analyse(module, project, target, contained, alone=bool(own) or not taken):
        through = taken if program.entry is None else program.through
        findings += findings_in(program, own, through, symbols, contained)
    if errors is not None:
        errors += contained
    elif contained:
        raise contained[0].error
    findings.sort(key=lambda f: (SUREST_FIRST.index(f.confidence), f.via, f.message), reverse=True)
    unique = {(f.node.lineno or 0, f.node.col_offset or 0, f.rule.symbol): f for f in findings}
    return [unique[place] for place in sorted(unique)]


def taken_part(module: nodes.Module, project: Project) -> frozenset[Domain]:
    """What a module takes part in because other modules import it, or a launch script runs it."""
    path = project.file_of(module)
    return project.domains_of(path) if path is not None else frozenset()


def concerned(module: nodes.Module, project: Project, settings: Settings) -> bool:
    """Whether any rule checks a module."""
    return bool(domains(module, settings.scope) or taken_part(module, project))


def findings_in(
    program: Program,
    own: frozenset[Domain],
    through: frozenset[Domain],
    symbols: Collection[str] | None,
    errors: list[InternalError],
) -> Iterator[Finding]:
    """What the rules say of the module that is checked, as part of one program.

    The module takes part in `own` by its own imports, and in `through` by the program: then messages say which one.
    """
    found = own | through
    rules = {
        kind: kind(program)
        for kind in all_rules()
        if (Domain.XLA in found or kind.domain in found) and (symbols is None or kind.symbol in symbols)
    }
    name = "XLA program" if Domain.XLA in through else "program"
    via = "" if own or program.entry is None else f" (part of the {name} {program.entry.name})"
    for event in program.events:
        for kind in listeners(event):
            if kind not in rules:
                continue
            try:
                for finding in rules[kind].check(event):
                    if program.alone or finding.node.root() is program.module:
                        yield replace(finding, via=via) if via else finding
            except Exception as error:  # noqa: BLE001 - told to the user
                errors.append(InternalError(error, event.node))
