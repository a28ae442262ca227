"""What a rule may ask of a program beyond its events and values: all that rules know of the analysis.

Rules import from here and from the domain; how a program is interpreted can change without them.
"""

from __future__ import annotations

from xla_lint.program.domain.objects import is_optimizer
from xla_lint.program.library.datasets import has_all_rows, is_streamed
from xla_lint.program.library.devices import is_device, place_named
from xla_lint.program.library.optimizers import origins_of, parameters_place, parts_of
from xla_lint.program.project.scope import Domain, Version
from xla_lint.program.project.scripts import Script
from xla_lint.program.queries.holdings import (
    drawn_rows,
    grouped_sampler,
    models_among,
    models_held,
    origins_held,
    setting,
    step_counter,
    wrapped_function,
)
from xla_lint.program.queries.program import Program
from xla_lint.program.queries.source import (
    attributes_iterated,
    branches_around,
    calls_in_other_branches,
    computes_with,
    dotted_name,
    file_name,
    fills_up,
    is_import,
    names_in,
    needs_xla,
    only_calls,
    sets_attribute,
    use_of,
)
from xla_lint.program.syntax.index import last_name
from xla_lint.program.syntax.told_apart import is_not_one

__all__ = [
    "Domain",
    "Program",
    "Script",
    "Version",
    "attributes_iterated",
    "branches_around",
    "calls_in_other_branches",
    "computes_with",
    "dotted_name",
    "drawn_rows",
    "file_name",
    "fills_up",
    "grouped_sampler",
    "has_all_rows",
    "is_device",
    "is_import",
    "is_not_one",
    "is_optimizer",
    "is_streamed",
    "last_name",
    "models_among",
    "models_held",
    "names_in",
    "needs_xla",
    "only_calls",
    "origins_held",
    "origins_of",
    "parameters_place",
    "parts_of",
    "place_named",
    "sets_attribute",
    "setting",
    "step_counter",
    "use_of",
    "wrapped_function",
]
