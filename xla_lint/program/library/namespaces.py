"""Objects that hold what a program puts on them: parsed arguments, configurations, namespaces, flags of absl.

What nothing was set to is unknown, since a command line or a file may say it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.objects import OPEN, is_open
from xla_lint.program.domain.values import NONE, TEXT, UNKNOWN, Instance, Mapping, Sequence, Text, Value, as_setting
from xla_lint.program.library.devices import is_device
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

PARSER = "argparse.ArgumentParser"
NAMESPACE = "argparse.Namespace"
CONFIGURATION = "omegaconf.DictConfig"


@function("types.SimpleNamespace", NAMESPACE)
def namespace(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An object with these attributes."""
    return Instance(None, dotted, {k: v for k, v in arguments.keywords.items() if k != "**"}, node=arguments.node)


@function(PARSER)
def parser(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A parser of the command line."""
    return Instance(None, PARSER, node=arguments.node)


@methods(PARSER, "add_argument_group", "add_mutually_exclusive_group")
def group(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Arguments of a group are arguments of the parser."""
    return receiver


@methods(PARSER, "add_argument")
def add_argument(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """An argument whose default is the device of the program's backend counts as that: it says what is meant."""
    default = arguments.keywords.get("default")
    if machine.aim.is_native and isinstance(default, Text) and is_device(default, machine.backend):
        flags = [value.const for value in arguments.positional if isinstance(value, Text) and value.const]
        given = arguments.keywords.get("dest")
        named = given.const if isinstance(given, Text) else max(flags, key=len, default=None)
        if named:
            machine.heap.put(receiver.attributes, named.lstrip("-").replace("-", "_"), as_setting(default))
    return NONE


@methods(PARSER, "parse_args", "parse_known_args", "parse_intermixed_args")
def parse(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The arguments as attributes: a namespace that is given is filled."""
    given = arguments.get(1, "namespace")
    made = Instance(None, NAMESPACE, dict(receiver.attributes), node=arguments.node)
    parsed = given if given is not None and given is not NONE else made
    return Sequence([parsed, Sequence(None, TEXT)], UNKNOWN, True) if name == "parse_known_args" else parsed


@function("omegaconf.OmegaConf.create", "omegaconf.OmegaConf.load", "omegaconf.OmegaConf.merge",
          "omegaconf.OmegaConf.from_cli", "omegaconf.OmegaConf.structured", "omegaconf.DictConfig",
          "hydra.compose", "ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict",
          "easydict.EasyDict", "addict.Dict", "munch.Munch")  # fmt: skip
def configuration(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A configuration: by attribute and by key the same; of several that are merged, what each holds."""
    held: dict[str, Value] = {}
    for value in arguments.positional:
        if isinstance(value, Mapping):
            held.update(value.entries)
        elif is_open(value):
            held.update(value.attributes)
    held.update((name, value) for name, value in arguments.keywords.items() if name != "**")
    return Instance(None, CONFIGURATION, held, node=arguments.node)


@function("omegaconf.OmegaConf.update", "omegaconf.OmegaConf.set_struct", "omegaconf.OmegaConf.set_readonly")
def update_configuration(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An entry is set by its name; the rest of a configuration stays."""
    owner, key, value = arguments.get(0), arguments.get(1), arguments.get(2)
    if dotted.endswith(".update") and owner is not None and value is not None and isinstance(key, Text) and key.const:
        machine.set_attribute(owner, key.const, value)
    return NONE


@methods(NAMESPACE)
@methods("types.SimpleNamespace")
@methods(CONFIGURATION)
@methods(OPEN)
def namespace_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The methods of dicts that configurations have; all others are not known."""
    key = arguments.get(0)
    if name in ("get", "pop", "setdefault") and isinstance(key, Text) and key.const is not None:
        return receiver.attributes.get(key.const, UNKNOWN)
    if name == "update" and isinstance(key, Mapping):
        for entry, value in key.entries.items():
            machine.set_attribute(receiver, entry, value)
        return NONE
    return receiver if name in ("copy", "__copy__") else UNKNOWN
