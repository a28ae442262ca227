"""What parameters stand for whose arguments are not known: what their use and their annotations show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.join import choose
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.objects import OPEN
from xla_lint.program.domain.values import NONE, UNKNOWN, Device, Instance, Location, Tensor

if TYPE_CHECKING:
    from xla_lint.program.domain.definitions import Function
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine
    from xla_lint.program.syntax.uses import Use

ONE_TENSOR = re.compile(r"(typing\.|Optional\[|torch\.|\w*Tensor|None|[]'| ])*")
"""The annotation of a parameter that takes one tensor, or None."""
DEVICE_LOADERS = frozenset(name.rpartition(".")[2] for name in names(Role.LOADER))
"""The loaders that move batches to a lazy device, by last name."""


def seeded(use: Use | None, annotation: nodes.NodeNG | None, form: Form | None, instance: Instance | None) -> Value:
    """What a parameter without an argument in sight stands for."""
    noted = annotation.as_string() if annotation is not None else ""
    last = noted.strip("'\"").rpartition(".")[2]
    if use is not None and use.is_loss:
        return Tensor(Location.DEVICE, recorded_in=1, grad=True, certain=False)
    if (use is not None and use.is_optimizer) or last == "Optimizer":
        return Instance(None, "torch.optim.Optimizer", place=Location.DEVICE, certain=False)
    if (use is not None and use.is_model) or last == "Module":
        return Instance(None, "torch.nn.Module", place=Location.DEVICE, model=True, certain=False)
    if last == "DataLoader":
        return Loader(None, UNKNOWN)
    if last in DEVICE_LOADERS:
        return Loader(None, Tensor(Location.DEVICE, unstructured=True, certain=False), wrapped=True)
    if last.startswith("PreTrainedTokenizer"):
        return Instance(None, "transformers.PreTrainedTokenizer", certain=False)
    if use is not None and use.is_holder:
        return Instance(None, OPEN, certain=False)
    in_step = form in (Form.FORWARD, Form.HOOK)
    if last in ("Tensor", "LongTensor", "FloatTensor") or last.startswith(("Tensor |", "Optional[Tensor")):
        return Tensor(Location.DEVICE if in_step else Location.UNKNOWN, certain=False)
    if use is not None and use.placed and not in_step:
        return Device(Location.DEVICE, certain=False)
    if form is Form.FORWARD and not noted and use is not None:
        inside = instance is not None and any(
            isinstance(value := instance.attributes.get(name), Instance) and value.model for name in use.given_to
        )
        if use.is_tensor or inside:
            return Tensor(Location.DEVICE, certain=False)
    return UNKNOWN


def annotations_of(function: Function) -> dict[str, nodes.NodeNG | None]:
    """The annotations of a function's parameters, by name."""
    spec = function.node.args
    return {
        **dict(zip([a.name for a in spec.args or []], spec.annotations or [], strict=False)),
        **dict(zip([a.name for a in spec.kwonlyargs or []], spec.kwonlyargs_annotations or [], strict=False)),
    }


def brought(function: Function, name: str, arguments: Arguments, default: Value) -> Value:
    """What a parameter stands for that only `*args` or `**kwargs` may give: one of the tensors that these hold.

    One that has a default may be left to it. A parameter that is asked for its truth is a flag.
    """
    note = annotations_of(function).get(name)
    if arguments.rest is None or not (note is None or ONE_TENSOR.fullmatch(note.as_string())):
        return UNKNOWN
    if default is UNKNOWN:
        return arguments.rest
    return choose([arguments.rest, default]) if default is NONE and not is_asked(function, name) else UNKNOWN


def is_asked(function: Function, name: str) -> bool:
    """Whether a function tests the truth of a parameter."""
    index = function.frame.index
    named = index.mentioned.get(name, []) if index is not None else []
    return any(tests(node) for node in named if node.frame() is function.node)


def tests(node: nodes.NodeNG) -> bool:
    """Whether an expression is tested by its truth."""
    around = node.parent
    if isinstance(around, (nodes.If, nodes.While, nodes.IfExp, nodes.Assert)):
        return around.test is node
    return isinstance(around, nodes.BoolOp) or (isinstance(around, nodes.UnaryOp) and around.op == "not")


def with_evidence(machine: Machine, function: Function, bound: dict[str, Value], arguments: Arguments) -> None:
    """Let parameters whose arguments are unknown be what their use shows, as if the function had no caller.

    What a call brings is one object, which the caller's own name for it stands for from then on.
    """
    index = function.frame.index
    unknown = [name for name, value in bound.items() if value is UNKNOWN]
    if index is None or not unknown or not isinstance(arguments.node, nodes.Call):
        return
    uses = index.uses(function.node)
    for name in unknown:
        use = uses.get(name)
        if use is not None and use.is_loss and machine.assume_device:
            bound[name] = machine.tensor(arguments.node, Location.DEVICE, grad=True, certain=False)
            continue
        key = (function.node, arguments.node, name)
        if key not in machine.seeds:
            machine.seeds[key] = _brought(machine, function, name, use)
        bound[name] = seed = machine.seeds[key]
        if isinstance(seed, Instance):
            machine.rebind(given_for(function, name, arguments), UNKNOWN, seed)


def _brought(machine: Machine, function: Function, name: str, use: Use | None) -> Value:
    if use is not None and use.is_holder:
        return Instance(None, OPEN, certain=False)
    if not machine.assume_device:
        return UNKNOWN
    model = model_of(function)
    value = seeded(use, annotations_of(function).get(name), Form.FORWARD if model is not None else None, model)
    if isinstance(value, Device):
        return value if use is not None and use.surely_placed else UNKNOWN
    return value if isinstance(value, Instance) or (isinstance(value, Tensor) and model is not None) else UNKNOWN


def model_of(function: Function) -> Instance | None:
    """The model on the device whose `forward` a function is; None for others."""
    owner = function.receiver
    runs = function.name == "forward" and isinstance(owner, Instance) and owner.model
    return owner if runs and isinstance(owner, Instance) and owner.place is Location.DEVICE else None


def given_for(function: Function, name: str, arguments: Arguments) -> nodes.NodeNG | None:
    """The expression that a call gives for a parameter, None where it cannot be told."""
    spec = function.node.args
    names = [a.name for a in (*(spec.posonlyargs or []), *(spec.args or []))]
    before = len(function.leading) + (function.receiver is not None and not function.static)
    position = names.index(name) - before if name in names else len(names)
    return arguments.node_of(position, name) if position >= 0 else None
