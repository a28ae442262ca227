"""`xla-removed-api`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import ApiUse
from xla_lint.rules.base import Rule, Severity
from xla_lint.rules.device.renaming import RENAME, renamed
from xla_lint.rules.device.spelling import advice, dotted_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event, UsedApi
    from xla_lint.rules.base import Finding


class RemovedApi(Rule):
    """A name or an argument of torch_xla is gone in the release that the program must run on.

    ## What it does
    Finds imports, calls and plain references of names that the target release no longer has: `xm.xrt_world_size` and
    `xm.get_ordinal` from 2.7, `torch_xla.amp.GradScaler` from 2.9, `torch_xla.experimental.pjrt` from 2.5, and others;
    and arguments such as `cctx=`. It also finds spellings that circulate and that no release had:
    `import torch_xla.amp.syncfree.Adam as adam` imports a class as if it were a module, and `xm.step_closure` is
    `xm.add_step_closure`. The target is `--xla-target-version`, else what the project's own requirements pin, else the
    newest release that xla-lint knows.

    ## Why it matters
    The program ends in an `ImportError`, an `AttributeError` or a `TypeError`, often only after the data was loaded
    and the replicas were started.

    ## What to write instead
    The name that the message gives; it exists in the target release:

    ```python
    import torch_xla.runtime as xr

    world, rank = xr.world_size(), xr.global_ordinal()
    ```

    ## When it is fine
    Code for several releases that asks which one it has: a test on `torch_xla.__version__`, `hasattr`, `try` with
    `except AttributeError` or `ImportError`, or an `if` whose other branch uses the newer name. None of these is
    reported.
    """

    symbol = "xla-removed-api"
    number = "9763"
    severity = Severity.ERROR
    message = "%(uses)s"
    subscribes = (ApiUse,)
    fixes = (RENAME,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what the target release does not have."""
        if not isinstance(event, ApiUse):
            return
        told = {use: text for use in event.uses if (text := self._told(use)) is not None}
        if told:
            changes = renamed(event.node, told, self.program.backend, self.program.target)
            yield self.finding(event.node, uses="; ".join(told.values())).repaired_by(RENAME, *changes)

    def _told(self, use: UsedApi) -> str | None:
        life, target, package = use.life, self.program.target, self.program.backend.name
        if life.is_removed(target) and life.removed is not None:
            if life.since is None:
                return f"no release of {package} has '{use.spelled}'{advice(life, target)}"
            return f"'{use.spelled}' is gone since {package} {dotted_release(life.removed)}{advice(life, target)}"
        if not use.importable:
            module, _, name = use.spelled.rpartition(".")
            return f"'{use.spelled}' is not a module and cannot be imported as one: write 'from {module} import {name}'"
        return None
