"""What shows that compiled code is called with more than one size."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import Changing, CompiledCall, Growing, HandPadding, LibraryCall, LoaderBuilt
from xla_lint.program.domain.values import Number
from xla_lint.program.queries import computes_with
from xla_lint.rules.shapes.dynamic_padding import DynamicPadding
from xla_lint.rules.shapes.ragged_batch import may_end_ragged
from xla_lint.rules.wording import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.compilations import Compilation
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.queries import Program


class Varying:
    """The sizes with which the compiled code of a program is called."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def reason(self, compilation: Compilation) -> str | None:
        """What shows that the code of a compilation gets a second size; None where nothing does."""
        for call in self._program.of(CompiledCall):
            if call.compilation is compilation:
                found = next(self._reasons(call), None)
                if found is not None:
                    return found
        return None

    def _reasons(self, call: CompiledCall) -> Iterator[str]:
        home = call.compilation.node if call.compilation.node is not None else call.node
        for loop in call.context.loops:
            for built in self._program.of(LoaderBuilt):
                if any(source in built.loader.loops for source in (loop, *loop.fed_by)):
                    if may_end_ragged(built.loader):
                        yield f"the last batch of the loader of line {line(built.node, home)} may be smaller"
                    if self._padded is not None:
                        yield f"batches are padded to their longest row (line {line(self._padded, home)})"
            if self._hand_padded(loop) is not None:
                yield f"batches are padded to their longest row (line {line(self._hand_padded(loop), home)})"
        yield from self._changing(call, home)

    def _changing(self, call: CompiledCall, home: nodes.NodeNG) -> Iterator[str]:
        inside = set(call.node.nodes_of_class(nodes.NodeNG)) if isinstance(call.node, nodes.Call) else set()
        names = {node.name for node in inside if isinstance(node, nodes.Name)}
        loops = set(call.context.loops)
        for change in self._program.of(Changing):
            within = change.node in inside or change.context.compiled is call.compilation
            if change.shape and within and loops & change.number.loops:
                yield f"'{change.spelled}' is another size in every step (line {line(change.node, home)})"
        for growth in self._program.of(Growing):
            grown = names & {growth.what, *assigned_from(growth.node)}
            if grown and growth.loop in loops:
                yield f"'{min(grown)}' grows in every step (line {line(growth.node, home)})"
        for name, value in call.arguments.items():
            counts = (
                isinstance(value, Number) and bool(loops & value.loops) and is_whole(call.node, name, call.function)
            )
            if counts and call.function is not None and computes_with(call.function, name):
                yield f"the integer '{name}' is another one in every call of line {line(call.node, home)}"

    def _hand_padded(self, loop: Loop) -> nodes.NodeNG | None:
        return next((e.node for e in self._program.inside(loop) if isinstance(e, HandPadding)), None)

    @cached_property
    def _padded(self) -> nodes.NodeNG | None:
        """A call that pads to the longest row, where there is one."""
        rule = DynamicPadding(self._program)
        calls = (call for call in self._program.of(LibraryCall) if DynamicPadding.is_of_interest(call.name))
        found = (finding.node for call in (*calls, *self._program.of(HandPadding)) for finding in rule.check(call))
        return next(found, None)


def assigned_from(node: nodes.NodeNG) -> set[str]:
    """The names to which an expression is assigned."""
    targets = node.parent.targets if isinstance(node.parent, nodes.Assign) else []
    return {target.name for target in targets if isinstance(target, nodes.AssignName)}


def is_whole(call: nodes.NodeNG, parameter: str, function: nodes.NodeNG | None) -> bool:
    """Whether an argument of a call counts in whole numbers: what a `for` over a range gives, or sums of such."""
    if not isinstance(call, nodes.Call) or not isinstance(function, nodes.FunctionDef):
        return False
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    names = [argument.name for argument in function.args.args or []]
    names = names[1:] if names[:1] == ["self"] else names
    given |= dict(zip(names, call.args, strict=False))
    return parameter in given and counts(given[parameter])


def counts(node: nodes.NodeNG) -> bool:
    """Whether an expression is made of whole numbers that a loop counts."""
    if isinstance(node, nodes.BinOp):
        return node.op in ("+", "-", "*", "//", "%") and counts(node.left) and counts(node.right)
    if isinstance(node, nodes.Const):
        return isinstance(node.value, int)
    if not isinstance(node, nodes.Name):
        return False
    for around in node.node_ancestors():
        if isinstance(around, nodes.For) and any(
            name.name == node.name for name in around.target.nodes_of_class(nodes.AssignName)
        ):
            source = around.iter
            return isinstance(source, nodes.Call) and source.func.as_string() in ("range", "enumerate")
    return False
