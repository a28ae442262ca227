"""For which backends a module is, as its own statements tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import ASSUMED, BACKENDS
from xla_lint.program.syntax.imports import always_imports, dotted_name
from xla_lint.program.syntax.index import index_of, last_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.backend.backend import Backend

NATIVE = tuple(backend for backend in BACKENDS if backend.named_by_device)
"""The backends whose devices need not be imported."""
LAZY_MARKS = tuple(mark for backend in BACKENDS for mark in backend.marks) + tuple(
    quote + backend.device_type for backend in NATIVE for quote in "\"'"
)
"""A module whose source holds none of these takes part in no program for a backend by its own statements."""
ACCELERATOR = "torch.accelerator"
JOIN = "init_process_group"
COMPILE = "compile"
OTHER_FRAMEWORKS = frozenset({"jax", "flax", "tensorflow", "lightning", "pytorch_lightning", "lightning_fabric"})
"""Packages whose programs name devices in ways of their own."""


def backends_of(module: nodes.Module) -> tuple[Backend, ...]:
    """The backends that a module is for: the devices that it names, and what it imports; none where it tells none.

    Beside the device of a native backend, an import of another one that it can do without shows a program for both. One
    that it cannot do without shows a program on its way from one to the other.
    """
    if imports_own(ASSUMED, module):
        beside = tuple(backend for backend in NATIVE if next(device_namings(backend, module), None) is not None)
        return beside if beside and not is_optional(ASSUMED, module) else (*beside, ASSUMED)
    native = tuple(backend for backend in NATIVE if shows(backend, module))
    return native or ((ASSUMED,) if any(map(ASSUMED.owns, index_of(module).imported)) else ())


def imports_own(backend: Backend, module: nodes.Module) -> bool:
    """Whether a module imports a backend's own package, at any depth."""
    return any(name.partition(".")[0] == backend.name for name in index_of(module).imported)


def is_optional(backend: Backend, module: nodes.Module) -> bool:
    """Whether a module imports a backend's own package, and can do without."""
    return imports_own(backend, module) and not always_imports(module, {backend.name})


def is_chosen(backend: Backend, module: nodes.Module) -> bool:
    """Whether a module compares something with the name of a backend's device: what it then does may be anything."""
    compared = (side for test in module.nodes_of_class(nodes.Compare) for side in (test.left, test.ops[0][1]))
    return any(isinstance(side, nodes.Const) and side.value == backend.device_type for side in compared)


def shows(backend: Backend, module: nodes.Module) -> bool:
    """Whether a module is surely for a native backend: it imports it, or names its device where one is asked for."""
    if any(mark in text_of(module) for mark in backend.others):
        return False
    imported = any(name.partition(".")[0] in backend.driving for name in index_of(module).imported)
    return imported or next(namings(backend, module), None) is not None


def always_shows(backend: Backend, module: nodes.Module) -> bool:
    """Whether a module cannot run without a native backend: it imports it, or names its device under no test."""
    if always_imports(module, backend.packages):
        return True
    return any(not is_under_test(node) for node in namings(backend, module))


def is_under_test(node: nodes.NodeNG) -> bool:
    """Whether a test or a `try` decides that a node runs, inside its function or around it."""
    deciding = (nodes.If, nodes.IfExp, nodes.Try, nodes.BoolOp, nodes.Match)
    inner, around = node, node.parent
    while around is not None:
        if isinstance(around, deciding) and inner is not getattr(around, "test", None):
            return True
        inner, around = around, around.parent
    return False


def namings(backend: Backend, module: nodes.Module) -> Iterator[nodes.NodeNG]:
    """Where a module names a native backend's device, its module of torch, its compiler or its process group."""
    for attribute in index_of(module).attributes.get(backend.device_type, ()):
        if dotted_name(attribute) == backend.device_module:
            yield attribute
    yield from device_namings(backend, module)


def device_namings(backend: Backend, module: nodes.Module) -> Iterator[nodes.Call]:
    """The calls that are told a native backend's device, its compiler or its process group by name."""
    index = index_of(module)
    for call, slot, text in index.texts:
        function = last_name(call.func)
        if function == JOIN and slot in (0, "backend"):
            found = backend.process_group in text.replace(",", ":").split(":")
        elif function == COMPILE and slot == "backend":
            found = text in backend.compilers
        elif slot == "device" or (slot in (0, "type", "device_type", "torch_device")):
            found = text.partition(":")[0] == backend.device_type and function not in (JOIN, COMPILE)
        else:
            found = False
        if found and index.may_take_device(call.func):
            yield call


def mentions(backend: Backend, module: nodes.Module) -> bool:
    """Whether a module that imports torch holds the name of a native backend's device, wherever it goes from there.

    That it names the device shows only when it is run.
    """
    packages = {name.partition(".")[0] for name in index_of(module).imported}
    if "torch" not in packages or not packages.isdisjoint(OTHER_FRAMEWORKS):
        return False
    source = text_of(module)
    if any(mark in source for mark in backend.others):
        return False
    return any(quote + backend.device_type + end in source for quote in "\"'" for end in (quote, ":"))


def names_native_device(module: nodes.Module) -> bool:
    """Whether a module is surely for a native backend."""
    return any(shows(backend, module) for backend in NATIVE)


def may_name_native_device(module: nodes.Module) -> bool:
    """Whether a module is perhaps for a native backend: its run tells."""
    return not imports_own(ASSUMED, module) and any(mentions(backend, module) for backend in NATIVE)


def uses_any_accelerator(module: nodes.Module) -> bool:
    """Whether a module asks torch for whatever accelerator there is."""
    return any(
        dotted_name(attribute) == ACCELERATOR for attribute in index_of(module).attributes.get("accelerator", ())
    )


def text_of(module: nodes.Module) -> str:
    """The source of a module."""
    with module.stream() as stream:  # type: ignore[no-untyped-call]
        source: bytes = stream.read()
    return source.decode("utf-8", "replace")
