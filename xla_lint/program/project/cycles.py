"""What follows from who imports whom, where files that import each other in a circle count as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

T = TypeVar("T")


def beginnings(imports: Mapping[Path, Iterable[Path]]) -> frozenset[Path]:
    """The files that only files import with which they form a circle, or none. `imports` has a key for each file."""
    circle_of = {file: number for number, circle in enumerate(_circles(imports)) for file in circle}
    imported = {
        circle_of[target]
        for file, targets in imports.items()
        for target in targets
        if target in circle_of and circle_of[target] != circle_of[file]
    }
    return frozenset(file for file, circle in circle_of.items() if circle not in imported)


def gathered(imports: Mapping[Path, Iterable[Path]], own: Mapping[Path, frozenset[T]]) -> dict[Path, frozenset[T]]:
    """What each file has of its own, with what all files have that it leads to. Both have a key for each file."""
    found: dict[Path, frozenset[T]] = {}
    for circle in _circles(imports):
        inside = set(circle)
        beyond = {target for file in circle for target in imports[file] if target in imports and target not in inside}
        whole = frozenset[T]().union(*map(own.__getitem__, circle), *map(found.__getitem__, beyond))
        found.update(dict.fromkeys(circle, whole))
    return found


def reaches(imports: Mapping[Path, Iterable[Path]]) -> dict[Path, int]:
    """To how many files each file leads, itself counted. `imports` has a key for each file."""
    bits = {file: 1 << place for place, file in enumerate(imports)}
    led_to: dict[Path, int] = {}
    for circle in _circles(imports):
        whole = 0
        for file in circle:
            whole |= bits[file]
            for target in imports[file]:
                whole |= led_to.get(target, 0)
        led_to.update(dict.fromkeys(circle, whole))
    return {file: files.bit_count() for file, files in led_to.items()}


def _circles(imports: Mapping[Path, Iterable[Path]]) -> Iterator[list[Path]]:
    """The strongly connected components, those first that others lead to: Tarjan's algorithm without recursion."""
    number: dict[Path, int] = {}
    lowest: dict[Path, int] = {}
    stack: dict[Path, None] = {}
    for start in imports:
        pending = [] if start in number else [(start, iter(imports[start]))]
        while pending:
            file, onward = pending[-1]
            if file not in number:
                number[file] = lowest[file] = len(number)
                stack[file] = None
            for target in onward:
                if target not in imports:
                    continue
                if target not in number:
                    pending.append((target, iter(imports[target])))
                    break
                if target in stack:
                    lowest[file] = min(lowest[file], number[target])
            else:
                pending.pop()
                if pending:
                    parent = pending[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[file])
                if lowest[file] == number[file]:
                    circle = [file]
                    while (last := stack.popitem()[0]) != file:
                        circle.append(last)
                    yield circle
