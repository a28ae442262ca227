"""The repair of files in memory: check, change, and check again, until nothing is left that can be done."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from libcst import ParserSyntaxError

from xla_lint import failures
from xla_lint.cli.locate import located
from xla_lint.cli.one import permitted_in
from xla_lint.cli.results import Problem
from xla_lint.fixes.edits import plan
from xla_lint.program.project.overlay import overlaid
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import SourceError, absolute, decode, decoded, read
from xla_lint.program.project.taken_names import taken_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from xla_lint.cli.config import Choice
    from xla_lint.cli.results import Located
    from xla_lint.fixes.changes import Fix, Repair
    from xla_lint.fixes.edits import Plan

MOST_ROUNDS = 10
"""How often a file is checked and changed. What meets another fix waits for the next round."""


@dataclass(slots=True)
class Repaired:
    """One file, and what became of it."""

    path: str
    old: bytes
    new: bytes
    made: list[tuple[Located, Fix]] = field(default_factory=list)
    """The findings that were repaired, where each stood when it was."""
    unsafe: int = 0
    """How many findings are left that have an unsafe fix."""
    problem: Problem | None = None
    """Why no more could be done."""
    before: Counter[str] | None = None
    """How many findings of each rule there were at first; None where it could not be checked."""
    after: Counter[str] = field(default_factory=Counter)
    """How many there are at last."""

    @property
    def instead(self) -> Counter[str]:
        """How many findings of each rule have come with the changes."""
        return self.after - (self.before or Counter())


Offer = tuple["Located", "Repair"]


def repaired(choices: Mapping[str, Choice], *, unsafe: bool) -> list[Repaired]:
    """What files become by the fixes of those of their findings that are chosen, `unsafe` ones if they are wanted."""
    files = list(map(_opened, choices))
    waiting = [file for file in files if file.problem is None]
    for _ in range(MOST_ROUNDS):
        Project.forget()
        versions = {absolute(file.path): file.new for file in files if file.new != file.old}
        with overlaid(versions):
            waiting = [file for file in waiting if _repair(file, choices[file.path], unsafe=unsafe)]
        if not waiting:
            break
    Project.forget()
    return files


def _opened(path: str) -> Repaired:
    try:
        source = read(path)
    except SourceError as error:
        return Repaired(path, b"", b"", problem=Problem(path, str(error)))
    return Repaired(path, source, source)


def _repair(file: Repaired, choice: Choice, *, unsafe: bool) -> bool:
    """Make what can be made at once; whether anything was."""
    try:
        found = list(reported(file.path, file.new, choice))
        file.after = Counter(finding.symbol for finding, _ in found)
        file.before = file.after if file.before is None else file.before
        offers = [(finding, repair) for finding, repair in found if repair is not None]
        wanted = [(finding, repair) for finding, repair in offers if repair.fix.safe or unsafe]
        file.unsafe = len(offers) - len(wanted)
        return bool(wanted) and _change(file, wanted)
    except SourceError as error:
        file.problem = Problem(file.path, str(error), error.line)
    return False


def offered(path: str, source: bytes, choice: Choice) -> Iterator[Offer]:
    """The findings in the bytes of a file that are chosen and can be repaired.

    Raises:
        SourceError: the bytes are no Python source.
    """
    return ((finding, repair) for finding, repair in reported(path, source, choice) if repair is not None)


def reported(path: str, source: bytes, choice: Choice) -> Iterator[tuple[Located, Repair | None]]:
    """The findings in the bytes of a file that are chosen, each with what repairs it.

    Raises:
        SourceError: the bytes are no Python source.
    """
    project, text = Project.around(path), decode(source)
    module = project.parsed(path, source)
    checked = failures.check(module, project, choice.settings)
    for finding, wanted in permitted_in(checked.findings, module, text):
        place = located(finding, path, text.split("\n"), asked_for=wanted)
        if choice.reports(place):
            yield place, finding.repair


def _change(file: Repaired, wanted: Sequence[Offer]) -> bool:
    text, encoding = decoded(file.new)
    done = planned([repair for _, repair in wanted], text, taken_from(file.path))
    if done.text == text:
        return False
    try:
        file.new = done.text.encode(encoding)
    except UnicodeError as error:
        raise SourceError(f"left alone: it cannot be written as {encoding} again") from error
    file.made += ((finding, repair.fix) for finding, repair in wanted if repair in done.made)
    return True


def taken_from(path: str) -> frozenset[str]:
    """The names that other files of the project import from one."""
    return taken_names(Project.around(path), absolute(path))


def planned(repairs: Iterable[Repair], text: str, taken: frozenset[str]) -> Plan:
    """What becomes of a text by repairs, which is Python again; imports of what is `taken` by other files stay.

    Raises:
        SourceError: it is not.
    """
    try:
        done = plan(repairs, text, taken)
        _parse(done.text)
    except (ParserSyntaxError, SyntaxError) as error:
        why = str(error.message if isinstance(error, ParserSyntaxError) else error.msg)
        raise SourceError(f"left alone: what the fixes make of it cannot be parsed: {why}") from error
    return done


def _parse(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(text)
