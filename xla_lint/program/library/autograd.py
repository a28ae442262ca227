"""What runs with the backward pass: `torch.autograd.Function` and the hooks of tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Class, Function, GradientHook
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.objects import AUTOGRAD_FUNCTION, library_base, member_of
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance, Location, Sequence, Tensor, Value
from xla_lint.program.library.registry import methods
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.position import CONSTRUCTORS, MODULE

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.machine import Machine

CONTEXT = "torch.autograd.function.FunctionCtx"
SAVED = "saved_tensors"


@methods(Class)
def class_method(machine: Machine, receiver: Class, name: str, arguments: Arguments) -> Value | None:
    """`Fn.apply(x)` runs `forward` without gradients, and `backward` with the backward pass."""
    forward, backward = member_of(receiver, "forward"), member_of(receiver, "backward")
    if name != "apply" or library_base(receiver) != AUTOGRAD_FUNCTION or not isinstance(forward, Function):
        return None
    context = Instance(None, CONTEXT, node=arguments.node)
    setup = member_of(receiver, "setup_context")
    first = [] if isinstance(setup, Function) else [context]
    given = Arguments(arguments.node, [*first, *arguments.positional], arguments.keywords, arguments.unpacked)
    result = machine.call(replace(forward, no_grad=True), given)
    if isinstance(setup, Function):
        machine.call(setup, Arguments(arguments.node, [context, Sequence(arguments.positional, frozen=True), result]))
    if not machine.here.grad:
        return result
    made = device_tensors([result])
    if made and isinstance(backward, Function):
        several = isinstance(result, Sequence) and result.items is not None
        count = len(result.items or ()) if several and isinstance(result, Sequence) else 1
        note(machine, backward, GradientHook(backward, (context,), count, made[0].certain, machine.at.entry_point))
    return with_history(result)


def with_history(value: Value) -> Value:
    """What a function of the backward pass returns: tensors with a history."""
    if isinstance(value, Tensor):
        return value.like(grad=True)
    if isinstance(value, Sequence) and value.items is not None:
        return replace(value, items=[with_history(item) for item in value.items])
    return value


@methods(CONTEXT)
def context_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The context keeps tensors for the backward pass."""
    if name == "save_for_backward":
        machine.heap.put(receiver.attributes, SAVED, Sequence(list(arguments.positional), frozen=True))
    return NONE


@methods(Tensor, "register_hook", "register_post_accumulate_grad_hook")
def register(machine: Machine, tensor: Tensor, name: str, arguments: Arguments) -> Value | None:
    """A function that the backward pass gives the gradient of a tensor, or the tensor itself once it has one."""
    function = arguments.get(0, "hook")
    if isinstance(function, Function) and tensor.place is Location.DEVICE:
        first, gradients = ((), 1) if name == "register_hook" else ((tensor,), 0)
        note(machine, function, GradientHook(function, first, gradients, tensor.certain, machine.at.entry_point))
    else:
        machine.hand_over(arguments)
    return UNKNOWN


def note(machine: Machine, function: Function, hook: GradientHook) -> None:
    """Let a function run with the backward passes to come."""
    machine.gradient_hooks[function.node] = hook


def run_hooks(machine: Machine, node: nodes.NodeNG) -> None:
    """Run what was registered before, by what may run before this."""
    for hook in list(machine.gradient_hooks.values()):
        if hook.entry in (MODULE, CONSTRUCTORS, machine.at.entry_point):
            gradients = [machine.tensor(node, Location.DEVICE, certain=hook.certain) for _ in range(hook.gradients)]
            machine.call(hook.function, Arguments(node, [*hook.first, *gradients]))
