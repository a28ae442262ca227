"""`xla-torch-save`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Fix, Refer, Span
from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.events import Save
from xla_lint.program.domain.values import Location
from xla_lint.program.queries import calls_in_other_branches, dotted_name
from xla_lint.rules.base import Confidence, Counter, Rule, Severity
from xla_lint.rules.importing import importable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


OWN_SAVE = Fix(
    "save in the backend's own way: the file holds tensors of the CPU, and the master alone writes it", safe=False
)
TAKES = (("obj", "data"), ("f", "file_or_path"))
"""What becomes of the arguments of `torch.save`."""


class TorchSave(Rule):
    """`torch.save` is given tensors that live on the device.

    ## What it does
    Finds `torch.save` of models, of state dicts of models and optimizers, and of containers with tensors, where these
    live on the device. It holds anywhere in a program, not only in step code. The finding stands at the call.

    ## Why it matters
    Pickling fetches one tensor after the other, and each that is pending is executed on its own: with four parameters,
    five executions where one would do. The file also remembers the device: `torch.load` puts the tensors back on
    `xla:0`, and fails on a machine without torch_xla.

    ## What to write instead
    ```python
    xm.save(model.state_dict(), path)
    ```

    It moves everything to the CPU in one transfer, and writes on the master only; all replicas call it. Or convert on
    all replicas, and save the result on one:

    ```python
    state = {name: value.cpu() for name, value in model.state_dict().items()}
    if xm.is_master_ordinal():
        torch.save(state, path)
    ```

    ## When it is fine
    For host tensors, configurations and Python numbers, and in the branch of a script that runs without XLA.
    """

    symbol = "xla-torch-save"
    number = "9741"
    severity = Severity.WARNING
    message = (
        "torch.save fetches the tensors of '%(what)s' from the device one by one, and the file remembers the device;"
        " use %(instead)s, or move the values to the CPU first"
    )
    subscribes = (Save,)
    needs = (Role.SAVE,)
    costs = (Counter.READS,)
    fixes = (OWN_SAVE,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report saves of device tensors."""
        if not isinstance(event, Save) or event.spelled != "torch.save" or event.place is not Location.DEVICE:
            return
        if not _beside_own_save(event.node):
            instead = self.program.spell(Role.SAVE)
            finding = self.finding(event.node, Confidence.of(event.certain), what=event.what, instead=instead)
            yield finding.repaired_by(OWN_SAVE, self._own_save(event))

    def _own_save(self, event: Save) -> Refer | None:
        """The same by the backend's own way, which takes values and no objects, and chooses the replica itself."""
        if event.whole or Condition.RANK in event.context.conditions or not isinstance(event.node, nodes.Call):
            return None
        save = self.program.backend.names(Role.SAVE)[0]
        return Refer(Span.of(event.node.func), importable(save, self.program.backend), TAKES)


OWN_SAVES = frozenset(names(Role.SAVE))


def _beside_own_save(node: nodes.NodeNG) -> bool:
    """Whether the other branch of a test around a call saves the backend's way: then this one is for other devices."""
    return any(dotted_name(call.func) in OWN_SAVES for call in calls_in_other_branches(node))
