"""How many findings in real code are true, by level of confidence and by symbol: computed from a table of verdicts.

    python scripts/verdicts.py
    python scripts/verdicts.py --write

`verdicts.tsv` has one judged finding a line: repository, commit, path, line, symbol, confidence, verdict. A verdict
says whether the message is true of the code as it is worded, its frequency included: `true`, `false`, or `debatable`.
The table holds addresses and verdicts alone, no code. `--write` puts the result into docs/agreement.md.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from xla_lint.rules.base import Confidence

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "scripts" / "verdicts.tsv"
PAGE = ROOT / "docs" / "agreement.md"
BEGIN, END = "<!-- written by scripts/verdicts.py -->", "<!-- until here -->"
VERDICTS = ("true", "false", "debatable")


class VerdictError(Exception):
    """The table is broken; the text says where and how."""


class Verdict(NamedTuple):
    """One finding that was judged at its source."""

    repository: str
    """`owner/name`."""
    commit: str
    path: str
    line: int
    symbol: str
    confidence: str
    verdict: str


def read(table: Path) -> list[Verdict]:
    """The verdicts of a table, in its order.

    Raises:
        VerdictError: a line is not of the table's form.
    """
    found: list[Verdict] = []
    with table.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, delimiter="\t"), 2):
            try:
                line = int(row.pop("line"))
                verdict = Verdict(line=line, **row)
            except (TypeError, ValueError, KeyError) as error:
                raise VerdictError(f"{table.name}:{number}: {error}") from error
            if verdict.verdict not in VERDICTS or verdict.confidence not in Confidence.__members__:
                raise VerdictError(f"{table.name}:{number}: '{verdict.verdict}', '{verdict.confidence}'")
            found.append(verdict)
    return found


def report(verdicts: list[Verdict]) -> str:
    """The two tables, as Markdown."""
    repositories = len({verdict.repository for verdict in verdicts})
    levels = [level for level in Confidence.__members__ if any(verdict.confidence == level for verdict in verdicts)]
    symbols = sorted({verdict.symbol for verdict in verdicts})
    return "\n".join(
        [
            f"{len(verdicts)} findings in {repositories} public repositories, each judged at its source.",
            "",
            *_rows("level", levels, Counter((verdict.confidence, verdict.verdict) for verdict in verdicts)),
            "",
            *_rows("rule", symbols, Counter((verdict.symbol, verdict.verdict) for verdict in verdicts)),
        ]
    )


def _rows(head: str, names: list[str], counts: Counter[tuple[str, str]]) -> list[str]:
    rows = [f"| {head} | true | false | debatable | true of true and false |", "|---|---:|---:|---:|---:|"]
    for name in names:
        true, false, debatable = (counts[name, verdict] for verdict in VERDICTS)
        share = f"{100 * true / (true + false):.0f}%" if true + false else ""
        rows.append(f"| {name} | {true} | {false} | {debatable} | {share} |")
    return rows


def page(text: str, tables: str) -> str:
    """A page with the tables in their place.

    Raises:
        VerdictError: the page has no place for them.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise VerdictError(f"{PAGE.name} lacks '{BEGIN}' and '{END}'")
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}"


def main() -> int:
    """Print the tables, or write them; 2 where the table or the page is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/agreement.md")
    options = parser.parse_args()
    try:
        tables = report(read(TABLE))
        if options.write:
            PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
        else:
            print(tables)
    except VerdictError as error:
        print(f"verdicts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
