"""Read which arguments the classes of Transformers and Accelerate take, release by release, and write the table.

    pip download --no-deps --dest wheels transformers==4.57.6 ...
    python scripts/write_arguments.py wheels/*.whl

The wheels are read as text: nothing is imported, and no other package is needed.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "xla_lint" / "knowledge" / "arguments.json"
FILES = {
    "transformers": (
        "transformers/training_args.py",
        "transformers/training_args_seq2seq.py",
        "transformers/trainer.py",
        "transformers/trainer_seq2seq.py",
        "transformers/data/data_collator.py",
    ),
    "accelerate": ("accelerate/accelerator.py",),
}
CLASSES = {
    "transformers": (
        "TrainingArguments",
        "Seq2SeqTrainingArguments",
        "Trainer",
        "Seq2SeqTrainer",
        "DataCollatorWithPadding",
        "DataCollatorForLanguageModeling",
        "DataCollatorForSeq2Seq",
        "DataCollatorForTokenClassification",
    ),
    "accelerate": ("Accelerator",),
}


def main(wheels: list[str]) -> None:
    """Read the wheels and write the table."""
    found: dict[str, dict[str, dict[str, list[str]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    releases: dict[str, list[str]] = defaultdict(list)
    for path in sorted(wheels, key=version):
        package = Path(path).name.partition("-")[0]
        release = ".".join(map(str, version(path)[:2]))
        releases[package].append(release)
        classes = read(path, FILES[package])
        for name in CLASSES[package]:
            for argument in arguments(name, classes) or ():
                found[package][name][argument].append(release)
    table: dict[str, object] = {
        "source": "the classes' fields and `__init__`, with the names that `deprecate_kwarg` still takes, as the wheels"
        " of the listed releases have them; each argument with the first and the last of them that takes it",
        **{
            package: {
                "releases": releases[package],
                "classes": {
                    name: {argument: [seen[0], seen[-1]] for argument, seen in sorted(taken.items())}
                    for name, taken in found[package].items()
                },
            }
            for package in FILES
        },
    }
    TABLE.write_text(written(table), encoding="utf-8")


def written(table: dict[str, object]) -> str:
    """The table as JSON, one argument a line."""
    text = json.dumps(table, indent=1)
    return re.sub(r"\[\s+((?:\"[\d.]+\",?\s*)+)\]", lambda m: "[" + " ".join(m[1].split()) + "]", text) + "\n"


def version(wheel: str) -> tuple[int, ...]:
    """The release in a wheel's name."""
    return tuple(int(part) for part in Path(wheel).name.split("-")[1].split("."))


def read(wheel: str, files: tuple[str, ...]) -> dict[str, ast.ClassDef]:
    """The classes that these files of a wheel define."""
    classes: dict[str, ast.ClassDef] = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in files:
            tree = ast.parse(archive.read(name))
            classes.update({node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)})
    return classes


def arguments(name: str, classes: dict[str, ast.ClassDef]) -> list[str] | None:
    """The keywords that a class's constructor takes; None where it takes any."""
    cls = classes[name]
    for member in cls.body:
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            spec = member.args
            if spec.kwarg is not None:
                return None
            return [argument.arg for argument in (*spec.args[1:], *spec.kwonlyargs)] + renamed(member)
    inherited: list[str] = []
    for base in cls.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            inherited += arguments(base.id, classes) or []
    own = [
        member.target.id
        for member in cls.body
        if isinstance(member, ast.AnnAssign)
        and isinstance(member.target, ast.Name)
        and "ClassVar" not in ast.unparse(member.annotation)
        and "init=False" not in ast.unparse(member)
    ]
    return list(dict.fromkeys([*inherited, *own]))


def renamed(function: ast.FunctionDef) -> list[str]:
    """The old names that a decorator still takes."""
    return [
        str(decorator.args[0].value)
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        and "deprecate_kwarg" in ast.unparse(decorator.func)
        and decorator.args
        and isinstance(decorator.args[0], ast.Constant)
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
