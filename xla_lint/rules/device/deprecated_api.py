"""`xla-deprecated-api`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import ApiUse
from xla_lint.rules.base import Rule, Severity
from xla_lint.rules.device.renaming import RENAME, renamed
from xla_lint.rules.device.spelling import advice, dotted_release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class DeprecatedApi(Rule):
    """A name or an argument of torch_xla is deprecated in the release that the program must run on.

    ## What it does
    Finds imports, calls and plain references of names that the target release still has and warns about:
    `xm.xla_device` and `xm.mark_step` from 2.8, `xm.xrt_world_size` and `xm.get_ordinal` in 2.5 and 2.6,
    `torch_xla.experimental.xla_sharding` from 2.2 to 2.4, and others; and arguments such as `devkind=`. The target is
    `--xla-target-version`, else what the project's own requirements pin, else the newest release that xla-lint knows.

    ## Why it matters
    Each use prints a `DeprecationWarning` or a line in the log, and stops working in a later release.

    ## What to write instead
    The name that the message gives; it exists in the target release:

    ```python
    device = torch_xla.device()
    torch_xla.sync()
    ```

    ## When it is fine
    Code for several releases that asks which one it has: a test on `torch_xla.__version__`, `hasattr`, `try` with
    `except AttributeError` or `ImportError`, or an `if` whose other branch uses the newer name. None of these is
    reported.
    """

    symbol = "xla-deprecated-api"
    number = "9762"
    severity = Severity.WARNING
    message = "%(uses)s"
    subscribes = (ApiUse,)
    fixes = (RENAME,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what the target release warns about."""
        if not isinstance(event, ApiUse):
            return
        target, package = self.program.target, self.program.backend.name
        uses = [use for use in event.uses if use.life.is_deprecated(target) and use.importable]
        told = [
            f"'{use.spelled}' is deprecated since {package} {dotted_release(since)}{advice(use.life, target)}"
            for use in uses
            if (since := use.life.deprecated) is not None
        ]
        if told:
            changes = renamed(event.node, uses, self.program.backend, target)
            yield self.finding(event.node, uses="; ".join(told)).repaired_by(RENAME, *changes)
