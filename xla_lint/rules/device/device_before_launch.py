"""`xla-device-before-launch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Launch
from xla_lint.rules.base import Confidence, Rule, Severity
from xla_lint.rules.wording import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class DeviceBeforeLaunch(Rule):
    """The parent process initialises the XLA runtime before it launches the replicas.

    ## What it does
    Finds calls that initialise the runtime in a process, and from which every path leads on to `torch_xla.launch` or
    `xmp.spawn` in the same process: `torch_xla.device()`, `xm.xla_device()`, `xr.world_size()`, `xr.global_ordinal()`,
    `xm.master_print()`, `xm.get_xla_supported_devices()`, `Accelerator()` and others, and whatever makes or moves a
    tensor or a model with `"xla"` as the device. The module's top level counts: it runs on import. The finding stands
    at each of these calls.

    ## Why it matters
    The devices belong to the process that initialised the runtime. The launch raises "Runtime is already initialized.
    Do not use the XLA device before calling xmp.spawn."; older releases fail in the children, with "Cannot replicate
    if number of devices (1) is different from 8". Even `xr.world_size()`, which looks like a plain question,
    initialises the runtime, and its answer in the parent is not that of the replicas.

    ## What to write instead
    Move the call into the function that is launched:

    ```python
    def _mp_fn(index):
        device = torch_xla.device()
        batch = 64 // xr.world_size()


    torch_xla.launch(_mp_fn)
    ```

    ## When it is fine
    Inside the launched function, after the launch, and with `nprocs=1` or `debug_single_process=True`, where no
    process is started. A call under a test is not reported where another test stands around the launch: the two may
    exclude each other.
    """

    symbol = "xla-device-before-launch"
    number = "9765"
    severity = Severity.ERROR
    message = (
        "'%(call)s' initialises the XLA runtime in the parent process, and the launch on line %(line)s then fails;"
        " call it in the launched function"
    )
    subscribes = (Launch,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what touched the device before a launch."""
        if not isinstance(event, Launch):
            return
        for touched, sure in ((event.touched, Confidence.HIGH), (event.perhaps, Confidence.CONTROL_FLOW)):
            for node, dotted in sorted(touched, key=lambda item: int(item[0].lineno or 0)):
                yield self.finding(node, sure, call=dotted.rpartition(".")[2], line=line(event.node, node))
