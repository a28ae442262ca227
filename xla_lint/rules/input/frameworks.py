"""Frameworks that wrap loaders and samplers themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.rules.calls import calls

if TYPE_CHECKING:
    from xla_lint.program.analysis import Program

FRAMEWORKS = ("accelerate.Accelerator", "lightning.Trainer", "lightning.Fabric", "transformers.Trainer",
              "lightning_fabric.Fabric", "lightning.fabric.Fabric")  # fmt: skip


def framework_feeds(program: Program) -> bool:
    """Whether a framework takes care of the program's loaders."""
    return calls(program, *FRAMEWORKS)
