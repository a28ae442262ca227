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

    __hash__ = object.__hash__

    DEVICE = "gives the device"
    DEVICES = "gives a list of devices"
    BARRIER = "compiles and starts what is pending"
    OPTIMIZER_STEP = "reduces the gradients and steps an optimizer, and is a barrier if asked"
    STEP_REGION = "a context manager that begins and ends with a barrier"
    TRACED_STEP = "a context manager that ends with a barrier"
    TRACE = "a context manager without a barrier"
    COMPILER = "compiles for the device, as torch.compile(backend=) is given it"
    COMPILE = "makes each call of a function a graph of its own"
    HOST_REDUCE = "reduces values through the host, and is a barrier"
    RENDEZVOUS = "a meeting of all replicas, and a barrier"
    COLLECTIVE = "a collective inside the graph; its last name says which"
    BROADCAST = "a collective that changes no tensor in sight"
    REDUCE_GRADIENTS = "reduces the gradients of an optimizer"
    REDUCE_LIST = "reduces a list of gradients"
    ON_SOME = "runs a function on some replicas, and ends with a barrier"
    IDLE = "neither reads nor cuts"
    PRESENCE = "tells whether its device is there"
    START = "starts the runtime, and tells or chooses the device of the process"
    CONTEXT = "a context manager that changes how operations run"
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
    THREADS = "runs a function in a thread for each device, with a model, a loader, the device and what it keeps"
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

    __hash__ = object.__hash__

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


class Property(enum.Enum):
    """What is true of a backend beyond how it is spelled. Rules name the ones that they rest on in `needs`."""

    REPLACES_PARAMETERS = "moving a model to the device gives it new parameters"
    KEEPS_OFFSETS = "where an index or a view begins is part of what an operation is compiled for"
    OWN_DEVICE_ONLY = "each process sees one device, whose index is 0"
    REJECTS_SYMBOLS = "a graph that holds a symbolic size raises, so the second size of a compiled function does"
    DYNAMIC_RAISES = "torch.compile(dynamic=True) raises"
    MODE_RAISES = "it even raises"
    MODELESS = "torch.compile(mode=) is not for it"
    FIXED_SCALARS = "a graph takes no scalar of the host, such as the step count of an optimizer"
    CUTS_VIEWS_OF_INFERENCE = "inference_mode inside compiled code fails while compiling"
    GROWS_BY_TOKEN = "generate with a growing cache compiles at every token"
    FILLS_BY_MASK = "one number is written through a mask by an operation of fixed shape"
    SUCCEEDS_XLA = "programs of torch_xla move to it"


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
    project: str = ""
    """How its makers call it."""
    called: str = ""
    """How messages call its devices: the type of the devices, where it is not said."""
    properties: frozenset[Property] = frozenset()
    """What else is true of it."""
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
    since: tuple[str, Release] | None = None
    """A package that is the backend's from a release on, where it was another one's before."""
    others: tuple[str, ...] = ()
    """What a source holds that is for another maker's package or device of the same name."""
    mode_names: Mapping[str, Mode] = field(default_factory=dict)
    """Names whose use puts a program into a mode."""
    mode_variables: Mapping[str, Mode] = field(default_factory=dict)
    """Variables of the environment that, switched on, do so."""
    reads_variables: tuple[str, ...] = ()
    """How the variables of the environment begin that it reads, once, at the first use of the device."""
    ignores_variables: tuple[str, ...] = ()
    """How those begin that another backend reads, and it does not."""
    choices: frozenset[str] = frozenset()
    """The texts by which programs choose the backend: `if backend == "xla":`."""
    fetching: frozenset[str] = frozenset()
    """Operations of fixed shape, by last name, that fetch a number to the host and are compiled for it."""
    compilers: tuple[str, ...] = ()
    """How the names of its compilers begin, as given to `torch.compile(backend=)`: their graphs run when called."""
    process_group: str | None = None
    """Its name for `torch.distributed.init_process_group`."""
    process_group_module: str | None = None
    """The module whose import makes that name known, imported for nothing else."""
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

    def has(self, *needs: Role | Property) -> bool:
        """Whether the backend has something of each role, and each property."""
        return all(
            need in self.properties if isinstance(need, Property) else need in self.functions or need in self.written
            for need in needs
        )

    def owns(self, dotted: str) -> bool:
        """Whether a dotted name is of the backend or its kin."""
        return dotted.partition(".")[0] in self.packages or dotted.startswith(self.modules)

    @property
    def title(self) -> str:
        """How messages call its devices and tensors."""
        return self.called or self.device_type

    @property
    def device_module(self) -> str | None:
        """The module of torch for the type of its devices: that of a native backend is `torch.<type>`."""
        return f"torch.{self.device_type}" if self.named_by_device else None

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
