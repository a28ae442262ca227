"""What files of each kind say that a project depends on, in the words of the tools that read them.

What cannot be parsed says nothing: whoever uses the file has been told.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import sys
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Asked = tuple[str, SpecifierSet]
"""A package by its canonical name, and the releases that are asked for."""

COMMENT = re.compile(r"(^|\s)#.*$", re.MULTILINE)
JOINED = re.compile(r"\\\r?\n")
WHEEL = re.compile(r"[\w.]+-\d[\w.+!%]*(?:-[\w.]+){3,4}\.whl")
OPTIONS = re.compile(r"\s--?[a-z].*$")
CONDA = re.compile(r"(?:[\w/.-]+::)?(?P<name>[\w.-]+)\s*(?P<rest>[=<>!~*\d].*)?")
CONDA_NAMES = {"pytorch": "torch"}
"""What packages of conda are called elsewhere."""


def requirement(text: str) -> Iterator[Asked]:
    """What one requirement asks, in the words of pip: a name with clauses, or a wheel."""
    wheel = WHEEL.search(text)
    try:
        if wheel is not None:
            name, version, *_ = parse_wheel_filename(wheel[0].replace("%2B", "+"))
            yield name, SpecifierSet(f"=={version.public}")
        else:
            parsed = Requirement(text)
            yield canonicalize_name(parsed.name), parsed.specifier
    except (InvalidRequirement, InvalidWheelFilename):
        return


def _lines(text: str) -> Iterator[Asked]:
    """A requirements file; the files that it includes are found by `files_of`."""
    for line in COMMENT.sub("", JOINED.sub(" ", text)).splitlines():
        if not line.lstrip().startswith("-"):
            yield from requirement(OPTIONS.sub("", line).strip())


def _pyproject(text: str) -> Iterator[Asked]:
    tables = tomllib.loads(text)
    tools = _table(tables, "tool")
    lists = [_list(tables, "project", "dependencies"), _list(tools, "uv", "constraint-dependencies")]
    lists += [_list(tools, "uv", "dev-dependencies")]
    for groups in (
        _table(tables, "project", "optional-dependencies"),
        _table(tables, "dependency-groups"),
        _table(tools, "pdm", "dev-dependencies"),
    ):
        lists += [_list(groups, name) for name in groups]
    environments = _table(tools, "hatch", "envs")
    lists += [_list(environments, name, "dependencies") for name in environments]
    for each in lists:
        for written in each:
            yield from requirement(written) if isinstance(written, str) else ()
    poetry = _table(tools, "poetry")
    groups = _table(poetry, "group")
    for table in (
        _table(poetry, "dependencies"),
        _table(poetry, "dev-dependencies"),
        *(_table(groups, name, "dependencies") for name in groups),
    ):
        yield from _constraints(table)


def _pipfile(text: str) -> Iterator[Asked]:
    tables = tomllib.loads(text)
    for name in ("packages", "dev-packages"):
        yield from _constraints(_table(tables, name))


def _constraints(table: dict[str, Any]) -> Iterator[Asked]:
    """Packages with the constraints of Poetry or Pipenv, which may be tables, or several for one package."""
    for name, written in table.items():
        for each in written if isinstance(written, list) else [written]:
            constraint = each.get("version") if isinstance(each, dict) else each
            if isinstance(constraint, str):
                yield canonicalize_name(name), poetry_specifiers(constraint)


def poetry_specifiers(constraint: str) -> SpecifierSet:
    """What a constraint of Poetry means, `^2.5` and `~2.5` among them; of alternatives the last one.

    Raises:
        InvalidSpecifier: it is none.
    """
    clauses = []
    for clause in re.split(r"\s*,\s*|\s+(?=[<>=!~^])", constraint.rpartition("||")[2].strip()):
        numbers = re.findall(r"\d+", clause)
        if clause.startswith("^") and numbers:
            first = next((number for number, part in enumerate(numbers) if part != "0"), len(numbers) - 1)
            clauses += [f">={clause[1:]}", f"<{_next(numbers[: first + 1])}"]
        elif re.match(r"~(?!=)", clause) and numbers:
            clauses += [f">={clause[1:]}", f"<{_next(numbers[:2])}"]
        elif clause not in ("*", ""):
            clauses.append(clause if clause[0] in "<>=!~" else f"=={clause}")
    return SpecifierSet(",".join(clauses))


def _next(numbers: list[str]) -> str:
    return ".".join([*numbers[:-1], str(int(numbers[-1]) + 1)])


def _setup_cfg(text: str) -> Iterator[Asked]:
    config = configparser.RawConfigParser()
    config.read_string(text)
    for section in config.sections():
        for key, value in config.items(section):
            if (section, key) == ("options", "install_requires") or section == "options.extras_require":
                yield from _lines(value)


def _setup_py(text: str) -> Iterator[Asked]:
    """Whatever strings of the source are requirements, wherever they stand."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _lines(node.value)


def _conda(text: str) -> Iterator[Asked]:
    import yaml  # noqa: PLC0415 - few projects have such a file

    document = yaml.safe_load(text)
    for entry in _list(document, "dependencies"):
        for written in entry.get("pip") or () if isinstance(entry, dict) else ():
            yield from _lines(str(written))
        match = CONDA.fullmatch(entry.strip()) if isinstance(entry, str) else None
        if match is not None:
            name = canonicalize_name(match["name"])
            yield CONDA_NAMES.get(name, name), conda_specifiers(match["rest"] or "")


def conda_specifiers(constraint: str) -> SpecifierSet:
    """What a constraint of conda means: `=2.5` and `2.5.*` are all of 2.5, and a build may follow.

    Raises:
        InvalidSpecifier: it is none.
    """
    fuzzy = re.match(r"=?(?!=)\s*(\d[\w.]*?)(\.?\*)?(=.*)?$", constraint.strip())
    if fuzzy is not None:
        exact = not constraint.startswith("=") and not fuzzy[2]
        return SpecifierSet(f"=={fuzzy[1]}" if exact else f"=={fuzzy[1]}.*")
    return SpecifierSet(constraint.rpartition("|")[2].replace(" ", ",").strip(","))


def _lock(text: str) -> Iterator[Asked]:
    tables = tomllib.loads(text)
    for each in (*_list(tables, "package"), *_list(tables, "packages")):
        if isinstance(each, dict) and {"name", "version"} <= each.keys():
            yield canonicalize_name(str(each["name"])), SpecifierSet(f"=={each['version']}")


def _pipfile_lock(text: str) -> Iterator[Asked]:
    document = json.loads(text)
    for section in ("default", "develop"):
        yield from _constraints(_table(document, section))


PARSERS: dict[str, Callable[[str], Iterator[Asked]]] = {
    "lock": _lock,
    "Pipfile.lock": _pipfile_lock,
    "pyproject": _pyproject,
    "lines": _lines,
    "Pipfile": _pipfile,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "conda": _conda,
}
"""By the kinds of files that `declarations.py` tells apart."""
UNREADABLE = (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, configparser.Error)
"""What parsers raise about a file that is none of its kind; YAML's own errors are added where YAML is needed."""


def asked_in(text: str, kind: str) -> list[Asked]:
    """What the text of a file says, as far as it can be parsed."""
    errors: tuple[type[Exception], ...] = UNREADABLE
    if kind == "conda":
        import yaml  # noqa: PLC0415 - few projects have such a file

        errors = (*errors, yaml.YAMLError)
    found: list[Asked] = []
    try:
        found.extend(PARSERS[kind](text))
    except errors:
        return found
    return found


def canonical(package: str) -> str:
    """A package's name as all its spellings are compared."""
    return str(canonicalize_name(package))


def _table(document: Any, *keys: str) -> dict[str, Any]:
    """The table below some keys, empty where there is none."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def _list(document: Any, *keys: str) -> list[Any]:
    found = _table(document, *keys[:-1]).get(keys[-1])
    return found if isinstance(found, list) else []
