"""What a name is, as its use shows: the evidence where nothing else is known.

`.backward()` makes a loss, `.parameters()` a model, `.zero_grad()` with `.step()` an optimizer, `.to(d)` a device.
The name itself is never evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from astroid import nodes

from xla_lint.knowledge.operations import FACTORIES
from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role

MODEL_METHODS = frozenset(
    {
        "parameters",
        "named_parameters",
        "state_dict",
        "load_state_dict",
        "train",
        "eval",
        "named_modules",
        "requires_grad_",
    }
)
TENSOR_METHODS = frozenset(
    "abs amax amin argmax bmm bool chunk clamp contiguous cpu detach dim exp expand flatten float gather half "
    "index_select item log_softmax long masked_fill masked_select matmul mean new_ones new_tensor new_zeros nonzero "
    "norm numel permute pow repeat reshape scatter sigmoid size softmax sqrt squeeze sum tanh transpose type_as unbind "
    "unsqueeze view".split()
)
QUESTIONS = frozenset({"is_tensor", "is_floating_point", "is_complex", "Size", "device", "manual_seed", "no_grad"})
COMPUTING = frozenset({"torch", "torch.nn.functional"})
NOT_COMPUTING = FACTORIES | QUESTIONS
DEVICE_KEYWORDS = frozenset({"device"})
OPTIMIZER_STEPS = frozenset(name.rpartition(".")[2] for name in names(Role.OPTIMIZER_STEP, Role.REDUCE_GRADIENTS))
OF_TENSORS = frozenset({"grad", "data", "requires_grad"})
"""The attributes of tensors that programs set."""


@dataclass(slots=True)
class Use:
    """How one name is used in a function."""

    methods: set[str] = field(default_factory=set)
    called: bool = False
    placed: bool = False
    """It is given where a device is expected."""
    surely_placed: bool = False
    """It is given as a device by its keyword: what is given to `.to()` may be a dtype."""
    optimizer: bool = False
    """It is handed to a backend's function that steps it, or reduces its gradients."""
    computed: bool = False
    """It is the first argument of a torch function that computes."""
    filled: bool = False
    """One of its attributes or items is set."""
    given_to: set[str] = field(default_factory=set)
    """The attributes of `self` that are called with it as the first argument."""

    def __or__(self, other: Use) -> Use:
        """What this and another part of the scope show."""
        return Use(
            self.methods | other.methods,
            self.called or other.called,
            self.placed or other.placed,
            self.surely_placed or other.surely_placed,
            self.optimizer or other.optimizer,
            self.computed or other.computed,
            self.filled or other.filled,
            self.given_to | other.given_to,
        )

    @property
    def is_loss(self) -> bool:
        """True for what `backward()` is called on."""
        return "backward" in self.methods

    @property
    def is_optimizer(self) -> bool:
        """True for what is zeroed and stepped."""
        return self.optimizer or {"zero_grad", "step"} <= self.methods

    @property
    def is_model(self) -> bool:
        """True for what has parameters."""
        return (
            bool(self.methods & MODEL_METHODS)
            and not self.is_optimizer
            and (
                self.called
                or bool(self.methods & {"parameters", "named_parameters"})
                or {"train", "eval"} <= self.methods
                or ("to" in self.methods and bool(self.methods & {"train", "eval"}))
            )
        )

    @property
    def is_holder(self) -> bool:
        """True for what the program puts things on, and does nothing with that only models or tensors allow."""
        told = self.called or self.is_tensor or self.is_loss or self.optimizer or self.placed
        return self.filled and not told and not self.methods & (MODEL_METHODS | {"step", "to", "cuda"})

    @property
    def is_tensor(self) -> bool:
        """True for what only a tensor allows, inside a module's `forward`."""
        return bool(self.methods & TENSOR_METHODS) or self.computed


Uses = dict[str, Use]


def receiver_of(node: nodes.NodeNG) -> str | None:
    """The name of the object whose method a node stands in, usually `self`; None outside methods."""
    inner = node
    while inner.parent is not None:
        outer = inner.parent
        if isinstance(inner, nodes.FunctionDef) and isinstance(outer.scope(), nodes.ClassDef):
            parameters = [*(inner.args.posonlyargs or []), *(inner.args.args or [])]
            return str(parameters[0].name) if parameters else None
        inner = outer
    return None


def path_of(node: nodes.NodeNG, receiver: str | None) -> str | None:
    """`loss` or `self.model`: a name, or a name's attribute, as text; None for anything else.

    The object whose method it stands in, the `receiver`, is `self`, whatever the method calls it.
    """
    part: Any = node
    kind = type(part)
    if kind is nodes.Name:
        return str(part.name)
    if kind is nodes.Attribute and type(part.expr) is nodes.Name:
        owner = part.expr.name
        return f"{'self' if owner == receiver else owner}.{part.attrname}"
    return None


def is_member(node: nodes.NodeNG) -> bool:
    """Whether a node is an attribute of a name."""
    return isinstance(node, nodes.Attribute) and isinstance(node.expr, nodes.Name)


def use_of(path: str, uses: Uses) -> Use:
    """The use of a path so far."""
    found = uses.get(path)
    if found is None:
        found = uses[path] = Use()
    return found


def note_filled(target: nodes.AssignAttr | nodes.Subscript, uses: Uses, receiver: str | None) -> None:
    """Note that an attribute is set, or an item under a name."""
    if isinstance(target, nodes.AssignAttr):
        owner = target.expr if target.attrname not in OF_TENSORS else None
    else:
        named = isinstance(target.slice, nodes.Const) and isinstance(target.slice.value, str)
        owner = target.value if named else None
    if owner is not None and (path := path_of(owner, receiver)) is not None and path != receiver:
        use_of(path, uses).filled = True


def note_given(
    node: nodes.Call, function: nodes.Attribute, uses: Uses, imported: dict[str, str], receiver: str | None
) -> None:
    """Note that names are given to a member of the receiver, or to a function of torch that computes."""
    root, first = function.expr, node.args[0] if node.args else None
    if isinstance(root, nodes.Name) and root.name == receiver:
        if isinstance(first, nodes.Name):
            use_of(first.name, uses).given_to.add(function.attrname)
    elif function.attrname not in NOT_COMPUTING and origin_of(root, imported) in COMPUTING:
        for given in node.args[: 2 if is_loss_function(function.attrname) else 1]:
            if isinstance(given, nodes.Name):
                use_of(given.name, uses).computed = True


def origin_of(node: nodes.NodeNG, imported: dict[str, str]) -> str:
    """The dotted name of what an expression names of an imported module, empty where it does not."""
    if isinstance(node, nodes.Name):
        return imported.get(node.name, "")
    if isinstance(node, nodes.Attribute) and (owner := origin_of(node.expr, imported)):
        return f"{owner}.{node.attrname}"
    return ""


def is_loss_function(name: str) -> bool:
    """Whether a function of torch compares its first two arguments: both are tensors."""
    return name.endswith("loss") or "cross_entropy" in name


def note_call(node: nodes.Call, uses: Uses, imported: dict[str, str], receiver: str | None) -> None:
    """Note what one call shows of the names in it.

    `imported` tells what the module's names stand for, and `receiver` what the method around calls its object.
    """
    function = node.func
    if (path := path_of(function, receiver)) is not None:
        use_of(path, uses).called = True
    if isinstance(function, nodes.Attribute):
        if (path := path_of(function.expr, receiver)) is not None and (
            function.attrname != "backward" or not node.args
        ):
            use_of(path, uses).methods.add(function.attrname)
        if function.attrname in OPTIMIZER_STEPS and node.args and (path := path_of(node.args[0], receiver)):
            use_of(path, uses).optimizer = True
        if function.attrname == "to" and node.args and (path := path_of(node.args[0], receiver)):
            use_of(path, uses).placed = True
        note_given(node, function, uses, imported, receiver)
    for keyword in node.keywords:
        if keyword.arg in DEVICE_KEYWORDS and (path := path_of(keyword.value, receiver)):
            use = use_of(path, uses)
            use.placed = use.surely_placed = True
