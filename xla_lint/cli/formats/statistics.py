"""How many findings there are of each rule, the most first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from xla_lint.cli.results import Results


def write(results: Results, stream: TextIO) -> None:
    """Write a line for each rule to a stream: how many findings, in how many files, and what it is."""
    rules = Counter((finding.code, finding.symbol, finding.severity) for finding in results.findings)
    files = {(finding.code, finding.path) for finding in results.findings}
    width = max((len(symbol) for _, symbol, _ in rules), default=0)
    for (code, symbol, severity), number in sorted(rules.items(), key=lambda item: (-item[1], item[0])):
        places = sum(of == code for of, _ in files)
        print(
            f"{number:6} in {places:4} {'file ' if places == 1 else 'files'}  {code} {symbol:{width}}  {severity}",
            file=stream,
        )
