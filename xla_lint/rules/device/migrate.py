"""`xla-migrate`."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.knowledge.successors import Kind, successor, text_successor, unused
from xla_lint.program.backend import ASSUMED, spelled
from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import ForeignName, LibraryCall
from xla_lint.program.domain.values import Text
from xla_lint.rules.base import EVERYWHERE, Rule, Severity
from xla_lint.rules.device.porting import FIXES, port_of_name, port_of_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xla_lint.knowledge.successors import Successor
    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding
    from xla_lint.rules.device.porting import Port

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


Line = tuple[nodes.NodeNG, int]
"""A module, and the number of a line."""


class Use(NamedTuple):
    """A use of torch_xla."""

    event: Event
    name: str
    answer: Successor
    port: Port | None
    """What it becomes, where that is mechanical."""


class Migrate(Rule):
    """A name of torch_xla is left in a program that moves to TorchTPU or TorchNeuron.

    ## What it does
    Finds every use of a name of torch_xla, of the device `"xla"`, of the process group `"xla"` and of the compiler
    `"openxla"`, where the program is checked for another backend (`--xla-target=torch_tpu` or `torch_neuron`), or names
    the device of one beside torch_xla. The message says what takes its place. There is one finding a line. Imports are
    reported where nothing uses what they bring; methods of what was made are not.

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
    fixes = FIXES

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Calls that may be told the device of torch_xla by its name."""
        return call in TEXTS or call.rpartition(".")[2] == "to" or call.startswith("torch.")

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what is of torch_xla, once a line."""
        uses = self._by_line.get(_line_of(event), ()) if self.program.aim.is_moving else ()
        if not uses or uses[0].event is not event:
            return
        use = uses[0]
        found = self.finding(
            event.node,
            name=use.name,
            old=ASSUMED.name,
            group=use.answer.group.value,
            title=self.program.backend.title,
            advice=use.answer.advice,
        )
        ports = [other.port for other in uses if other.port is not None]
        port = next((port for port in ports if port.fix.safe), ports[0] if ports else None)
        yield found.repaired_by(port.fix, port.change) if port is not None else found

    @cached_property
    def _by_line(self) -> Mapping[Line, list[Use]]:
        """All uses of each line, of which one finding tells."""
        found: dict[Line, list[Use]] = defaultdict(list)
        for event in self.program.events:
            if isinstance(event, ForeignName) or (isinstance(event, LibraryCall) and self.is_of_interest(event.name)):
                use = self._use(event)
                if use is not None:
                    found[_line_of(event)].append(use)
        return found

    def _use(self, event: Event) -> Use | None:
        backend = self.program.backend.name
        if isinstance(event, ForeignName):
            parent = event.node.parent
            if isinstance(parent, nodes.Attribute) and parent.expr is event.node and self._goes_on(parent):
                return None
            is_import = isinstance(event.node, (nodes.Import, nodes.ImportFrom))
            answer = (unused if is_import else successor)(event.dotted, backend)
            if answer is not None:
                return Use(event, spelled(event.dotted), answer, port_of_name(event, answer, self.program))
        if isinstance(event, LibraryCall):
            for slot, kind, text in texts_of(event):
                answer = text_successor(kind, text, backend)
                if answer is not None:
                    return Use(event, text, answer, port_of_text(event, slot, text, answer))
        return None

    def _goes_on(self, longer: nodes.Attribute) -> bool:
        """Whether the name around is one of torch_xla itself, and not a method of what this one stands for."""
        return any(isinstance(event, ForeignName) for event in self.program.at(longer))


def _line_of(event: Event) -> Line:
    return event.node.root(), int(event.node.lineno or 0)


def texts_of(call: LibraryCall) -> Iterator[tuple[tuple[int, str], Kind, str]]:
    """The texts in a call that may stand for torch_xla, each with its position and its name."""
    places = TEXTS.get(call.name)
    if places is None:
        first = (0,) if call.name.rpartition(".")[2] == "to" else (-1,)
        places = tuple((position, "device", Kind.DEVICE) for position in first)
    for position, name, kind in places:
        value = call.argument(position, name)
        if isinstance(value, Text) and value.const is not None:
            yield (position, name), kind, value.const
