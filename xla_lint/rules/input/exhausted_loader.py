"""`xla-exhausted-loader`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import LoopRun
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.objects import loaders_of
from xla_lint.program.domain.values import Stream
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.loaders import Loader
    from xla_lint.program.domain.loops import Loop
    from xla_lint.rules.base import Finding


class ExhaustedLoader(Rule):
    """A `ParallelLoader` is made once and iterated in every epoch.

    ## What it does
    Finds loops over `ParallelLoader(...).per_device_loader(device)` that run again and again, in an epoch loop or in
    a function called from one, while the loader was made outside it. The finding stands at the loop over batches.

    ## Why it matters
    A `ParallelLoader` walks its `DataLoader` once. From the second epoch on the loop body does not run at all. No
    error is raised: training ends early, and whatever is computed after the loop uses the numbers of the first
    epoch.

    ## What to write instead
    `MpDeviceLoader` starts a new pass each time it is iterated:

    ```python
    batches = MpDeviceLoader(loader, device)
    for epoch in range(epochs):
        for x, y in batches:
            ...
    ```

    Or make the `ParallelLoader` anew inside the epoch loop.

    ## When it is fine
    One pass over the data. A loader that is made inside the epoch loop is not reported.
    """

    symbol = "xla-exhausted-loader"
    number = "9752"
    severity = Severity.ERROR
    message = (
        "the loop of line %(line)s iterates the %(loader)s of line %(built)s again in each turn of the loop"
        " of line %(outer)s: it can be walked once, so every epoch after the first has no batches; use"
        " %(instead)s, or make it inside the loop of line %(outer)s"
    )
    subscribes = (LoopRun,)
    needs = (
        Role.LOADER,
        Role.SINGLE_PASS_LOADER,
    )

    def check(self, event: Event) -> Iterator[Finding]:
        """Report loops that walk a used-up loader."""
        if not isinstance(event, LoopRun) or event.loop.iterable is None:
            return
        loaders = loaders_of(event.loop.iterable)
        outer = [repeats(loader, event.context.loops) for loader in loaders]
        if loaders and all(outer):
            loop, loader = outer[0], loaders[0]
            assert loop is not None
            built = str(loader.node.lineno) if loader.node is not None else "?"
            single, instead = map(self.program.spell, (Role.SINGLE_PASS_LOADER, Role.LOADER))
            line, outside = str(event.loop.line), str(loop.line)
            yield self.finding(event.node, line=line, built=built, outer=outside, loader=single, instead=instead)


def repeats(loader: Loader, around: tuple[Loop, ...]) -> Loop | None:
    """The loop around that walks a single-pass loader more than once, None where there is none."""
    if not loader.single:
        return None
    outside = (loop for loop in around if loop not in loader.made)
    return next((loop for loop in outside if loop.form is Form.LOOP and not once(loop)), None)


def once(loop: Loop) -> bool:
    """True for `range(1)`."""
    return isinstance(loop.iterable, Stream) and constant(loop.iterable.stop) == 1
