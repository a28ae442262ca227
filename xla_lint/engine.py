"""The whole linter as one function: a module in, findings out."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.program.backend import backend_named
from xla_lint.program.domain.comments import IgnoreComment
from xla_lint.program.domain.contexts import Context
from xla_lint.program.interpreter.programs import Goal, Judge, analyse
from xla_lint.program.machine.internal_errors import InternalError
from xla_lint.program.project.backends import may_name_native_device, uses_any_accelerator
from xla_lint.program.project.membership import Membership
from xla_lint.program.project.scope import Domain, Scope, Version, target_version
from xla_lint.program.project.source import decode
from xla_lint.program.project.statements import stated_by
from xla_lint.program.queries import Program
from xla_lint.program.syntax.ignore_comments import ignore_comments
from xla_lint.program.syntax.spelling import line_of
from xla_lint.rules import all_rules, listeners, symbol_of
from xla_lint.rules.base import Confidence, Finding, Severity
from xla_lint.rules.evidence import chain

if TYPE_CHECKING:
    from collections.abc import Collection

    from xla_lint.program.backend.backend import Backend, Mode
    from xla_lint.program.machine.limits import GivenUp
    from xla_lint.program.project.project import Project
    from xla_lint.program.syntax.ignore_comments import IgnoreText
    from xla_lint.rules.base import Rule

ADDRESSEE = b"lint"
"""What every comment to the linter holds."""
SUREST_FIRST = (Confidence.HIGH, Confidence.CONTROL_FLOW, Confidence.INFERENCE)


class Settings(NamedTuple):
    """What the user may choose."""

    scope: Scope = Scope.AUTO
    target: Version | None = None
    """The torch_xla release the code must run on; None: the project's own declaration, else the newest."""
    backend: str | None = None
    """The name of the backend that the code is for; None: what each program says."""


def default_symbols() -> frozenset[str]:
    """The symbols of the rules that run unless the user asks for others."""
    return frozenset(rule.symbol for rule in all_rules() if rule.severity is not Severity.ADVICE)


class Examined(NamedTuple):
    """What became of one module."""

    findings: list[Finding]
    """In the order of its lines."""
    domains: frozenset[Domain]
    """What it turned out to take part in: the rules of these were applied; every rule where XLA is among them."""
    errors: list[InternalError]
    """The errors inside the engine that ended the analysis of one function."""
    given_up: list[GivenUp]
    """The places of the module from which a program was not followed further."""
    ignored: list[Finding]
    """What comments in the module leave out."""


def check_module(
    module: nodes.Module, project: Project, settings: Settings, symbols: Collection[str] | None = None
) -> list[Finding]:
    """The findings of one module, in the order of its lines.

    `symbols` limits the rules that run; None runs every one, advice included.

    Raises:
        Exception: an error inside the engine.
    """
    examined = examine(module, project, settings, symbols)
    if examined.errors:
        raise examined.errors[0].error
    return examined.findings


def examine(
    module: nodes.Module, project: Project, settings: Settings, symbols: Collection[str] | None = None
) -> Examined:
    """What is found in one module, and by which rules.

    Raises:
        Exception: an error inside the engine, outside what it interprets.
    """
    membership = membership_of(module, project, settings)
    if not (membership.domains or membership.may_be_xla):
        return Examined([], frozenset(), [], [], [])
    target = settings.target or target_version(project.root)
    chosen_backend = backend_named(settings.backend) if settings.backend is not None else None
    goal = Goal(target, chosen_backend, settings.scope is Scope.ALL)
    chosen = None if symbols is None else frozenset(symbols)
    judge = Judge(lambda program, domains: verdict_on(program, domains, chosen), chosen)
    findings: list[Finding] = []
    errors: list[InternalError] = []
    given_up: list[GivenUp] = []
    domains = membership.own
    for part in analyse(module, project, goal, membership, judge):
        errors += [*part.run.errors, *part.run.verdict.errors]
        given_up += (place for place in part.run.given_up if place.node.root() is part.module)
        found = membership.own | part.through
        domains |= found
        own = [f for f in part.run.verdict.findings.get(part.module, ()) if applies(f.rule, found)]
        if part.entry is not None and not membership.own:
            name = "XLA program" if Domain.XLA in part.through else "program"
            own = [f._replace(via=f" (part of the {name} {project.name_of(part.entry)})") for f in own]
        findings += own
    findings.sort(key=lambda f: (SUREST_FIRST.index(f.confidence), f.via, f.message), reverse=True)
    unique = {(f.node.lineno or 0, f.node.col_offset or 0, f.rule.symbol): f for f in findings}
    known = frozenset[str]() if errors else chosen or frozenset(rule.symbol for rule in all_rules())
    comments = comments_of(module, unique.values(), known)
    judged = Program(module, target, list(comments), project)
    for finding in verdict_on(judged, domains, chosen).findings.get(module, ()) if comments else ():
        unique[finding.node.lineno or 0, finding.node.col_offset or 0, finding.message] = finding
    ordered = [unique[place] for place in sorted(unique)]
    ignored = [f for f in ordered if any(silences(comment.text, f) for comment in comments)]
    return Examined([f for f in ordered if f not in ignored], domains, errors, given_up, ignored)


def comments_of(module: nodes.Module, findings: Collection[Finding], known: Collection[str]) -> list[IgnoreComment]:
    """The comments of a module that leave out findings.

    `known` are the rules whose findings are all at hand, so that a comment on one of them may be idle.
    """
    found: list[IgnoreComment] = []
    with module.stream() as stream:  # type: ignore[no-untyped-call]
        source: bytes = stream.read()
    if ADDRESSEE not in source.lower():
        return found
    text = decode(source)
    lines = text.split("\n")
    for comment in ignore_comments(text):
        idle = tuple(
            name
            for name in comment.names
            if (symbol := symbol_of(name)) in known
            and not any(symbol == f.rule.symbol and silences(comment, f) for f in findings)
        )
        start, end = (len(lines[comment.line - 1][:column].encode()) for column in (comment.start, comment.end))
        node = nodes.Pass(comment.line, start, module, end_lineno=comment.line, end_col_offset=end)
        found.append(IgnoreComment(node, Context((), frozenset(), (), closure=False, callback=False), comment, idle))
    return found


def silences(comment: IgnoreText, finding: Finding) -> bool:
    """Whether a comment leaves out a finding."""
    named = finding.rule.symbol in comment.names or finding.rule.code() in comment.names
    return named and comment.first <= line_of(finding.node) <= comment.last


def membership_of(module: nodes.Module, project: Project, settings: Settings) -> Membership:
    """What a module takes part in: by its own statements as they stand in the tree, the rest as its project knows."""
    path = project.file_of(module)
    known = project.membership(path) if path is not None else Membership()
    own = stated_by(module, settings.scope)
    if settings.backend is not None and uses_any_accelerator(module):
        own |= {Domain.XLA}
    if may_name_native_device(module):
        known = known._replace(as_program=known.as_program | {Domain.XLA}, may_be_xla=True)
    return known._replace(own=own)


def applies(rule: type[Rule], domains: frozenset[Domain]) -> bool:
    """Whether a rule is for modules that take part in these."""
    return Domain.XLA in domains or rule.domain in domains


def concerns(rule: type[Rule], backend: Backend, modes: frozenset[Mode]) -> bool:
    """Whether a rule is for programs of a backend: it holds in one of their modes, and speaks of what there is."""
    return not modes.isdisjoint(rule.modes) and backend.has(*rule.needs)


@functools.lru_cache(maxsize=64)
def rules_for(
    backend: Backend, modes: frozenset[Mode], domains: frozenset[Domain], symbols: frozenset[str] | None
) -> frozenset[type[Rule]]:
    """Those of the chosen rules that are for programs of a backend, and apply in any of these domains."""
    wanted = (rule for rule in all_rules() if symbols is None or rule.symbol in symbols)
    return frozenset(rule for rule in wanted if applies(rule, domains) and concerns(rule, backend, modes))


class Verdict(NamedTuple):
    """What the rules find in one program."""

    findings: dict[nodes.NodeNG, list[Finding]]
    """By the module in which they stand; all in the one that was run where no other took part."""
    errors: list[InternalError]


def verdict_on(program: Program, domains: frozenset[Domain], symbols: frozenset[str] | None) -> Verdict:
    """What those of the chosen rules find in a program that apply in any of these domains."""
    chosen = rules_for(program.backend, program.modes, domains, symbols)
    rules: dict[type[Rule], Rule] = {}
    found: dict[nodes.NodeNG, list[Finding]] = defaultdict(list)
    errors: list[InternalError] = []
    for event in program.events:
        mode = program.mode_of(event)
        for kind in listeners(event):
            if kind not in chosen or mode not in kind.modes:
                continue
            try:
                if kind not in rules:
                    rules[kind] = kind(program)
                for finding in rules[kind].check(event):
                    told = finding._replace(evidence=chain(event, program), event=event)
                    found[program.module if program.alone else finding.node.root()].append(told)
            except Exception as error:  # noqa: BLE001 - told to the user
                errors.append(InternalError(error, event.node))
    return Verdict(dict(found), errors)
