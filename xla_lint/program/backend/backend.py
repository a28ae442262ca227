"""What a backend is: how programs spell a lazy device, and what it charges.

A name in a backend is a canonical dotted name (`xla_lint.program.syntax.names`); one that ends in a dot stands for all
below it. A release is a pair of numbers, say `(2, 9)`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Release = tuple[int, int]


class Role(enum.Enum):
    """What a function or class of a backend is for. Library models register for the names of a role."""

    DEVICE = "gives the device"
    DEVICES = "gives a list of devices"
    BARRIER = "compiles and starts what is pending"
    OPTIMIZER_STEP = "reduces the gradients and steps an optimizer, and is a barrier if asked"
    STEP_REGION = "a context manager that begins and ends with a barrier"
    TRACED_STEP = "a context manager that ends with a barrier"
    TRACE = "a context manager without a barrier"
    COMPILE = "makes each call of a function a graph of its own"
    HOST_REDUCE = "reduces values through the host, and is a barrier"
    RENDEZVOUS = "a meeting of all replicas, and a barrier"
    COLLECTIVE = "a collective inside the graph; its last name says which"
    BROADCAST = "a collective that changes no tensor in sight"
    REDUCE_GRADIENTS = "reduces the gradients of an optimizer"
    REDUCE_LIST = "reduces a list of gradients"
    ON_SOME = "runs a function on some replicas, and ends with a barrier"
    IDLE = "neither reads nor cuts"
    PRINT = "prints on one replica"
    RANK = "tells a replica its number"
    COUNT = "tells the number of devices or replicas"
    CHECKPOINT = "calls a function, and again for the backward pass"
    SEND = "transfers host tensors to the device"
    FETCH = "transfers everything to the host"
    TRACKER = "tracks numbers of the host"
    OTHER = "the rest: it neither reads nor cuts"
    LAUNCH = "runs a function in every replica"
    SHARED_MODEL = "wraps a model that the launched replicas share"
    STEP_CLOSURE = "registers a function that runs after the barrier"
    SCALER = "a gradient scaler"
    SAVE = "saves values"
    LOADER = "wraps a loader; next() is a barrier and yields device tensors"
    SINGLE_PASS_LOADER = "the same, for one pass"
    WRITER = "gives a TensorBoard writer"
    OPTIMIZERS = "a package of optimizers"
    TRAINERS = "a package of trainers derived from those of Transformers"
    AUTOCAST = "mixed precision"
    WAIT = "waits for the device"
    MEMORY = "tells how much memory of the device is in use"


class Mode(enum.Enum):
    """How operations come to run."""

    LAZY = "they are recorded until a barrier or a read"
    EAGER = "each one is started where the program meets it"
    FUSED = "they are gathered in groups that the backend ends itself"
    COMPILED = "a function is one graph"


class Charge(enum.Enum):
    """What reading a value costs that has not been computed yet."""

    EXECUTES = "all that is pending is compiled and executed, and the host waits"
    CUTS = "the fused group ends there, and the host waits for the device"
    BREAKS = "the compiled graph is broken there, and the host waits for the device"
    WAITS = "the host waits for the device"


def _initialises_nothing(_: str, __: Release) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Backend:
    """One backend. All that the analysis and the rules know of it stands here."""

    name: str
    """Its package, as programs import it and declarations of dependencies name it."""
    device_type: str
    """The type of its devices, as in `torch.device("xla")`."""
    charges: Mapping[Mode, Charge]
    """What a read costs in each mode that the backend has; programs are in the first one by default."""
    functions: Mapping[Role, tuple[str, ...]]
    """The dotted names of its functions and classes."""
    written: Mapping[Role, tuple[tuple[Release, str], ...]]
    """How messages tell people to write something: each spelling with the release from which on it is right."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Modules, each with the name by which programs import it: `("torch_xla.runtime.", "xr.")`."""
    canonical: Mapping[str, str] = field(default_factory=dict)
    """Modules whose members are public elsewhere, and classes that are called in the way of another library's."""
    packages: frozenset[str] = frozenset()
    """Packages whose import makes a module part of a program for the backend: its own, and those built upon it."""
    modules: tuple[str, ...] = ()
    """Modules of other packages of which the same holds."""
    driving: frozenset[str] = frozenset()
    """Packages with which a module drives the device itself."""
    core: tuple[str, ...] = ()
    """Modules that are imported where a program turns to the device: the body of `if use_xla:`."""
    marks: tuple[str, ...] = ()
    """A source that holds none of these takes part in no program for the backend by what it imports or asks for."""
    named_by_device: bool = False
    """Whether a module that names a device of the type is part of a program for the backend: it need import nothing."""
    choices: frozenset[str] = frozenset()
    """The texts by which programs choose the backend: `if backend == "xla":`."""
    compilers: tuple[str, ...] = ()
    """How the names of its compilers begin, as given to `torch.compile(backend=)`: their graphs run when called."""
    process_group: str | None = None
    """Its name for `torch.distributed.init_process_group`."""
    replica_function: str | None = None
    """The function that launchers of whole scripts call in each replica."""
    presence_tests: frozenset[str] = frozenset()
    """The functions of Transformers and Accelerate, by last name, that say whether the backend is there."""
    rank_variables: frozenset[str] = frozenset()
    """Environment variables that tell a process its rank."""
    wrappers: frozenset[str] = frozenset()
    """Functions and classes, by last name, that give what they are given: wrappers of models."""
    initialises: Callable[[str, Release], bool] = _initialises_nothing
    """Whether a call by its dotted name starts the backend's runtime in a release."""
    is_assumed: bool = False
    """Whether programs that name no backend, such as those of Accelerate, are taken to be for it."""

    def names(self, *roles: Role) -> tuple[str, ...]:
        """The dotted names of some roles, in their order."""
        return tuple(name for role in roles for name in self.functions.get(role, ()))

    def has(self, *roles: Role) -> bool:
        """Whether the backend has something of each role."""
        return all(role in self.functions or role in self.written for role in roles)

    def owns(self, dotted: str) -> bool:
        """Whether a dotted name is of the backend or its kin."""
        return dotted.partition(".")[0] in self.packages or dotted.startswith(self.modules)

    def write(self, role: Role, target: Release) -> str:
        """How a message spells something for a release.

        Raises:
            KeyError: the backend has no such thing.
        """
        return [text for since, text in self.written[role] if since <= target][-1]

    def spelled(self, dotted: str) -> str:
        """A dotted name as people write it: functions of `torch_xla.runtime` behind `xr`."""
        for module, alias in self.aliases:
            if dotted.startswith(module):
                return alias + dotted.removeprefix(module)
        return dotted

    @property
    def mode(self) -> Mode:
        """The mode that programs are in by default."""
        return next(iter(self.charges))

    @property
    def charge(self) -> Charge:
        """What a read costs in the default mode."""
        return self.charges[self.mode]
