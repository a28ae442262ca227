"""`xla-migrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.knowledge.successors import Kind, successor, text_successor
from xla_lint.program.backend import ASSUMED, spelled
from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import ForeignName, LibraryCall
from xla_lint.program.domain.values import Text
from xla_lint.rules.base import EVERYWHERE, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.knowledge.successors import Successor
    from xla_lint.program.domain.events import Event
    from xla_lint.program.queries import Program
    from xla_lint.rules.base import Finding

JOIN, COMPILE = "torch.distributed.init_process_group", "torch.compile"
TEXTS = {
    "torch.device": ((0, "type", Kind.DEVICE),),
    "torch.set_default_device": ((0, "device", Kind.DEVICE),),
    "torch.autocast": ((0, "device_type", Kind.DEVICE),),
    "torch.amp.autocast": ((0, "device_type", Kind.DEVICE),),
    JOIN: ((0, "backend", Kind.PROCESS_GROUP), (1, "init_method", Kind.INIT_METHOD)),
    COMPILE: ((-1, "backend", Kind.COMPILER),),
}
"""The calls whose texts may stand for torch_xla: position, name and kind of each."""


class Migrate(Rule):
    """A name of torch_xla is left in a program that moves to TorchTPU or TorchNeuron.

    ## What it does
    Finds every use of a name of torch_xla, of the device `"xla"`, of the process group `"xla"` and of the compiler
    `"openxla"`, where the program is checked for another backend (`--xla-target=torch_tpu` or `torch_neuron`), or names
    the device of one beside torch_xla. The message says what takes its place. There is one finding a line; imports are
    not reported, and neither are the methods of what was made.

    ## Why it matters
    PyTorch/XLA is deprecated: its last release is of 2.9, and TorchTPU and TorchNeuron take its place (documented by
    Google and AWS). Neither has `torch_xla`, so that each use is an error there, or in a program with both, work for a
    device that the rest of the program does not use.

    ## What to write instead
    What the message says, by the documentation of both ("API mapping"). Renames first, then what goes away, and last
    what works in another way: launchers, loaders, checkpoints, sharding.

    ## When it is fine
    In the branch for torch_xla of a program that supports several backends: under a name that is tested for None, under
    `is_torch_xla_available()`, `device.type == "xla"` or `find_spec("torch_xla")`.
    """

    symbol = "xla-migrate"
    number = "9772"
    severity = Severity.ERROR
    message = "'%(name)s' is for %(old)s (%(group)s): on %(title)s, %(advice)s"
    subscribes = (ForeignName, LibraryCall)
    needs = (Property.SUCCEEDS_XLA,)
    modes = EVERYWHERE

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._told: set[tuple[nodes.NodeNG, int]] = set()

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Calls that may be told the device of torch_xla by its name."""
        return call in TEXTS or call.rpartition(".")[2] == "to" or call.startswith("torch.")

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what is of torch_xla, once a line."""
        if not self.program.aim.is_moving:
            return
        found = self._foreign(event)
        place = event.node.root(), int(event.node.lineno or 0)
        if found is None or place in self._told:
            return
        self._told.add(place)
        name, answer = found
        yield self.finding(
            event.node,
            name=name,
            old=ASSUMED.name,
            group=answer.group.value,
            title=self.program.backend.title,
            advice=answer.advice,
        )

    def _foreign(self, event: Event) -> tuple[str, Successor] | None:
        backend = self.program.backend.name
        if isinstance(event, ForeignName):
            parent = event.node.parent
            if isinstance(parent, nodes.Attribute) and parent.expr is event.node and self._goes_on(parent):
                return None
            answer = successor(event.dotted, backend)
            return None if answer is None else (spelled(event.dotted), answer)
        if isinstance(event, LibraryCall):
            for kind, text in texts_of(event):
                answer = text_successor(kind, text, backend)
                if answer is not None:
                    return text, answer
        return None

    def _goes_on(self, longer: nodes.Attribute) -> bool:
        """Whether the name around is one of torch_xla itself, and not a method of what this one stands for."""
        return any(isinstance(event, ForeignName) for event in self.program.at(longer))


def texts_of(call: LibraryCall) -> Iterator[tuple[Kind, str]]:
    """The texts in a call that may stand for torch_xla."""
    places = TEXTS.get(call.name)
    if places is None:
        first = (0,) if call.name.rpartition(".")[2] == "to" else (-1,)
        places = tuple((position, "device", Kind.DEVICE) for position in first)
    for position, name, kind in places:
        value = call.argument(position, name)
        if isinstance(value, Text) and value.const is not None:
            yield kind, value.const
