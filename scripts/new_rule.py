"""Start a new rule: its file, a fixture folder with one bad and one good example, and its page.

    python scripts/new_rule.py reads xla-some-symbol

The new rule reports nothing yet. What is still to be written is marked, and the tests of the new rule fail until no
mark is left; those of other rules pass.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import write_pages

from xla_lint.rules import all_rules
from xla_lint.rules.base import HEADINGS

ROOT = Path(__file__).resolve().parent.parent
MARK = "FILL ME IN"
"""What stands where something is still to be written."""
TENS = {
    "reads": (970,),
    "barriers": (971,),
    "shapes": (972,),
    "precision": (973,),
    "checkpoints": (974,),
    "input": (975,),
    "device": (976, 977),
    "compile": (977,),
    "accelerate": (978,),
    "habits": (978,),
    "sagemaker": (979,),
    "comments": (979,),
}
"""The tens of message numbers that each family may use."""

RULE = '''"""{mark}: what the rule is about, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Read
from xla_lint.rules.base import Counter, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class {name}(Rule):
    """{mark}: the page's first line.

{headings}
    """

    symbol = "{symbol}"
    number = "{number}"
    severity = Severity.WARNING
    message = "'%(what)s' {mark}"
    subscribes = (Read,)
    costs = (Counter.EXECUTIONS,)

    def check(self, event: Event) -> Iterator[Finding]:
        """{mark}: what is reported."""
        if isinstance(event, Read) and event.what == "{mark}":
            yield self.finding(event.node, what=event.what)
'''
FIXTURE = '''"""{mark}: a complete script that {behaviour}."""
'''


def scaffold(root: Path, family_name: str, symbol: str) -> list[Path]:
    """Write a rule's file and its two fixtures below `root`, and return their paths.

    Raises:
        ValueError: the family or the symbol will not do, or the family's numbers are used up.
        FileExistsError: one of the files is there already.
    """
    if family_name not in TENS:
        raise ValueError(f"no family '{family_name}'; there are {', '.join(TENS)}")
    if not re.fullmatch(r"xla(-[a-z0-9]+)+", symbol):
        raise ValueError(f"'{symbol}' is not a symbol; write it like xla-value-read")
    stem = symbol.removeprefix("xla-").replace("-", "_")
    texts = {
        root / "xla_lint" / "rules" / family_name / f"{stem}.py": RULE.format(
            mark=MARK,
            name="".join(part.capitalize() for part in stem.split("_")),
            headings="\n\n".join(f"    ## {heading}\n    {MARK}" for heading in HEADINGS),
            symbol=symbol,
            number=free_number(family_name),
        ),
        root / "tests" / "fixtures" / symbol / "bad_example.py": FIXTURE.format(mark=MARK, behaviour="pays the cost"),
        root / "tests" / "fixtures" / symbol / "good_example.py": FIXTURE.format(mark=MARK, behaviour="does not"),
    }
    for path in texts:
        if path.exists():
            raise FileExistsError(path)
    init = root / "xla_lint" / "rules" / family_name / "__init__.py"
    if not init.exists():
        texts[init] = f'"""{family_name.capitalize()}: {MARK}."""\n'
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)


def free_number(family_name: str) -> str:
    """The first message number of the family that no rule uses.

    Raises:
        ValueError: all are used.
    """
    used = {rule.number for rule in all_rules()}
    for ten in TENS[family_name]:
        for digit in "1234567890":
            if (number := f"{ten}{digit}") not in used:
                return number
    raise ValueError(f"the family '{family_name}' has no number left")


def unfinished(root: Path) -> list[Path]:
    """The rules and fixtures below `root` that still hold a mark."""
    folders = (root / "xla_lint" / "rules", root / "tests" / "fixtures")
    return [
        path for folder in folders for path in sorted(folder.rglob("*.py")) if MARK in path.read_text(encoding="utf-8")
    ]


def main() -> int:
    """Scaffold a rule in this checkout, and write the pages anew; 1 if it cannot be done."""
    parser = argparse.ArgumentParser(description="Start a new rule.")
    parser.add_argument("family", choices=TENS)
    parser.add_argument("symbol", help="the public name, such as xla-value-read")
    options = parser.parse_args()
    try:
        paths = scaffold(ROOT, options.family, options.symbol)
    except (ValueError, FileExistsError) as problem:
        print(problem, file=sys.stderr)
        return 1
    all_rules.cache_clear()
    write_pages.main()
    print("To be filled in, wherever the text says", MARK)
    for path in paths:
        print(" ", path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
