"""Frameworks that wrap loaders and samplers themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.rules.accelerate.evidence import ACCELERATOR

if TYPE_CHECKING:
    from xla_lint.program.queries import Program

WRAPPERS = (ACCELERATOR, "lightning.Fabric", "lightning_fabric.Fabric", "lightning.fabric.Fabric")
"""Frameworks that take care of the loaders of loops that the user writes."""
TRAINERS = (
    "lightning.Trainer",
    "transformers.Trainer",
    "transformers.Seq2SeqTrainer",
    "transformers.TrainingArguments",
)
"""Frameworks that run the loops themselves."""


def framework_feeds(program: Program) -> bool:
    """Whether a framework takes care of the loaders of the program's own loops."""
    return program.has_call(*WRAPPERS)


def framework_joins(program: Program) -> bool:
    """Whether a framework may have started a process group."""
    return program.has_call(*WRAPPERS, *TRAINERS)
