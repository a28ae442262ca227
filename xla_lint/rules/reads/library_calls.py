"""Library calls that read values of device tensors inside, and how to call them instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from xla_lint.knowledge.metrics import adds_in_place
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.values import NONE, Instance, Kind, Location, Tensor
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.queries import setting
from xla_lint.rules.arguments import constant, device_tensors, given

if TYPE_CHECKING:
    from xla_lint.program.domain.events import LibraryCall
    from xla_lint.program.domain.values import Value

VALIDATING = frozenset(
    """
    Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential FisherSnedecor Gamma
    Geometric Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal LogisticNormal
    LowRankMultivariateNormal Multinomial MultivariateNormal NegativeBinomial Normal OneHotCategorical
    OneHotCategoricalStraightThrough Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT Uniform VonMises
    Weibull Wishart
    """.split()
)
"""The classes of torch.distributions whose constructor was seen to read its tensors (torch 2.9.1 on torch_xla 2.9.0).
`Independent`, `MixtureSameFamily` and `TransformedDistribution` read nothing."""

ALWAYS_VALIDATING = frozenset(
    """
    ContinuousBernoulli FisherSnedecor LKJCholesky Multinomial OneHotCategorical OneHotCategoricalStraightThrough
    RelaxedBernoulli RelaxedOneHotCategorical StudentT
    """.split()
)
"""Those that read their tensors also with `validate_args=False`, mostly because they build another distribution that
is not told so; the default for all distributions silences them (seen with the same releases)."""
DISTRIBUTIONS = "torch.distributions."
DIVERGENCE = "torch.distributions.kl_divergence"
MASKED_DIVERGENCES = frozenset(
    "Bernoulli Binomial Categorical OneHotCategorical OneHotCategoricalStraightThrough Pareto Uniform".split()
)
"""The classes whose divergence from another one of the class was seen to read: it assigns under a mask
(torch 2.9.1, `torch/distributions/kl.py`)."""
READING_METHODS = {
    "torch.distributions.Geometric.log_prob": (
        "assigns under a mask, whose positions it asks for",
        "write it out: value * (-probs).log1p() + probs.log()",
    ),
    "torch.distributions.VonMises.sample": (
        "draws until all values are accepted, which it asks for",
        "draw on the host, before the step",
    ),
}
"""The methods of distributions that were seen to read: what they do, and what to do instead."""

MASKS = {
    "torch.nn.TransformerEncoder.__call__": ((1, "mask", "is_causal"),),
    "torch.nn.TransformerDecoder.__call__": ((2, "tgt_mask", "tgt_is_causal"),),
    "torch.nn.Transformer.__call__": ((2, "src_mask", "src_is_causal"), (3, "tgt_mask", "tgt_is_causal")),
}
"""The modules that compare a mask with the causal one: position and name of the mask, name of the hint (torch 2.9.1,
`torch/nn/modules/transformer.py`). A `memory_mask` is not compared: its hint is False unless it is given."""

METRICS = "torchmetrics."
UPDATES = frozenset({"update", "forward", "__call__"})
"""How a metric is fed."""
AGGREGATORS = frozenset({"MeanMetric", "SumMetric", "MaxMetric", "MinMetric", "CatMetric", "RunningMean", "RunningSum"})
"""What torchmetrics adds up: seen to read twice each time, whatever is done with NaN, unless that is "disable"
(torchmetrics 1.9 on torch_xla 2.9.0)."""
CHECKED = re.compile(
    r"(Binary|Multilabel|Multiclass|)(Accuracy|F1Score|FBetaScore|Precision|Recall|StatScores|ConfusionMatrix"
    r"|Specificity|JaccardIndex|MatthewsCorrCoef|CohenKappa|HammingDistance)"
)
"""The metrics of classification whose validation was seen to read: for two classes or several labels always, for
several classes where they are given labels and no scores (the same releases)."""
TASKS = {"binary": "Binary", "multilabel": "Multilabel", "multiclass": "Multiclass"}
GAUSSIAN = frozenset({"torch.nn.functional.gaussian_nll_loss", "torch.nn.GaussianNLLLoss.__call__"})
SWITCH_ANOMALY, DETECT_ANOMALY = "torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly"
INVERSES = frozenset({"torch.linalg.inv", "torch.inverse"})
BATCH_NORMS = frozenset(f"torch.nn.{name}.__call__" for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"))
LOGS = {"lightning.LightningModule.log": (4, 8), "lightning.LightningModule.log_dict": (3, 7)}
"""Lightning's logging methods: the positions of `on_step` and `sync_dist` (lightning 2.6)."""
EPOCH_HOOKS = ("validation_", "test_", "on_validation_", "on_test_")
"""Hooks in which Lightning logs once an epoch unless `on_step=True` (lightning 2.6.6, `fx_validator.py`)."""


class LibraryRead(NamedTuple):
    """What a library call reads, and the remedy."""

    does: str
    instead: str
    lasting: bool = False
    """True where the call switches a mode on, and the reads happen in other code."""
    by_torch: bool = True
    """Whether the source of the library reads on any device; else it was seen on torch_xla alone."""
    validates: bool = False
    """True where it is the validation of a distribution, which the program may have switched off."""


def library_read(call: LibraryCall) -> LibraryRead | None:
    """What a library call reads inside; None where it reads nothing, or that is not known."""
    test = _test_of(call.name)
    return test(call) if test is not None else None


def may_read(call: str) -> bool:
    """Whether anything is known that a call of this name reads."""
    return _test_of(call) is not None


def _distribution(call: LibraryCall) -> LibraryRead | None:
    if not any(device_tensors(call)):
        return None
    if call.name.rpartition(".")[2] in ALWAYS_VALIDATING:
        remedy = "call torch.distributions.Distribution.set_default_validate_args(False) once"
    elif _by_default(call, "validate_args", default=True):
        remedy = "pass validate_args=False"
    else:
        return None
    return LibraryRead("checks the values of its arguments", remedy, validates=True)


def _divergence(call: LibraryCall) -> LibraryRead | None:
    sides = [value.library.removeprefix(DISTRIBUTIONS) for value in call.args if _is_on_device(value)]
    if len(sides) != 2 or sides[0] != sides[1] or sides[0] not in MASKED_DIVERGENCES:
        return None
    return LibraryRead("assigns under a mask, whose positions it asks for", "write the divergence out")


def _drawn(call: LibraryCall) -> LibraryRead | None:
    if call.receiver is None or not _is_on_device(call.receiver):
        return None
    return LibraryRead(*READING_METHODS[call.name])


def _is_on_device(value: Value) -> TypeGuard[Instance]:
    """Whether a value is a distribution with device tensors."""
    if not isinstance(value, Instance):
        return False
    return any(tensor.place is Location.DEVICE for tensor in tensors_in(value))


def _causal_mask(call: LibraryCall) -> LibraryRead | None:
    if isinstance(call.receiver, Instance) and call.receiver.place is Location.HOST:
        return None
    for position, mask, hint in MASKS[call.name]:
        if given(call.argument(position, mask)) and not given(call.kwargs.get(hint)) and not call.unpacked:
            return LibraryRead(f"compares {mask} with the causal mask", f"pass {hint}=True or {hint}=False")
    return None


def _gaussian(call: LibraryCall) -> LibraryRead | None:
    if not any(device_tensors(call)):
        return None
    return LibraryRead(
        "checks that no variance is negative",
        "write the loss out, with the variance clamped: 0.5 * (var.log() + (input - target) ** 2 / var).mean()",
    )


def _anomaly(call: LibraryCall) -> LibraryRead | None:
    lasting = call.name == SWITCH_ANOMALY
    if lasting and constant(call.argument(0, "mode")) is not True:
        return None
    if not _by_default(call, "check_nan", True, 1 if lasting else 0):
        return None
    return LibraryRead("checks the gradients of every backward node", "pass check_nan=False, or remove it", lasting)


def _inverse(call: LibraryCall) -> LibraryRead | None:
    if not any(device_tensors(call)):
        return None
    return LibraryRead("checks that the inverse exists", "use torch.linalg.inv_ex(...).inverse", by_torch=False)


def _metric(call: LibraryCall) -> LibraryRead | None:
    name = call.name.split(".")[-2]
    if not any(device_tensors(call)) or call.unpacked:
        return None
    if isinstance(call.receiver, Instance) and call.receiver.place is Location.HOST and adds_in_place(name):
        return LibraryRead("adds to what it keeps", "move the metric to the device when it is built", by_torch=False)
    if name in AGGREGATORS:
        strategy = setting(call.receiver, "nan_strategy")
        found = LibraryRead("looks for NaN in what it is given", 'build it with nan_strategy="disable"')
        return found if strategy is None or constant(strategy) not in ("disable", None) else None
    kind, checked = CHECKED.fullmatch(name), setting(call.receiver, "validate_args")
    if kind is None or (checked is not None and constant(checked) is not True):
        return None
    task = kind[1] or TASKS.get(str(constant(setting(call.receiver, "task"))), "")
    guess = call.argument(0, "preds")
    labels = isinstance(guess, Tensor) and guess.kind is Kind.INT
    if task in ("Binary", "Multilabel") or (task == "Multiclass" and labels):
        return LibraryRead("checks the values of its arguments", "build it with validate_args=False")
    return None


def _cumulative_norm(call: LibraryCall) -> LibraryRead | None:
    if setting(call.receiver, "momentum") is not NONE:
        return None
    return LibraryRead("reads its batch counter because of momentum=None", "give it a momentum, say 0.1")


def _synchronised_log(call: LibraryCall) -> LibraryRead | None:
    on_step = call.argument(LOGS[call.name][0], "on_step")
    if not is_synchronised(call) or constant(on_step) is False:
        return None
    step = call.context.step
    if not given(on_step) and step is not None and step.form is Form.HOOK and step.function.startswith(EPOCH_HOOKS):
        return None
    remedy = "pass on_step=False, on_epoch=True"
    return LibraryRead("reduces the logged value over the replicas", remedy, by_torch=False)


def is_synchronised(call: LibraryCall) -> bool:
    """Whether one of Lightning's logging methods reduces the value over all replicas."""
    return constant(call.argument(LOGS[call.name][1], "sync_dist")) is True


def _by_default(call: LibraryCall, keyword: str, default: bool, position: int = -1) -> bool:
    """Whether a flag is known to have its default value."""
    value = call.argument(position, keyword)
    if not given(value):
        return not call.unpacked
    return constant(value) is default


Test = Callable[["LibraryCall"], "LibraryRead | None"]
_TESTS: dict[str, Test] = {
    **dict.fromkeys(MASKS, _causal_mask),
    **dict.fromkeys(GAUSSIAN, _gaussian),
    SWITCH_ANOMALY: _anomaly,
    DETECT_ANOMALY: _anomaly,
    **dict.fromkeys(INVERSES, _inverse),
    **dict.fromkeys(BATCH_NORMS, _cumulative_norm),
    **dict.fromkeys(LOGS, _synchronised_log),
    DIVERGENCE: _divergence,
    **dict.fromkeys(READING_METHODS, _drawn),
}


def _test_of(name: str) -> Test | None:
    """What tells whether a call of this name reads."""
    package, _, last = name.rpartition(".")
    if last in VALIDATING and f"{package}.".startswith(DISTRIBUTIONS):
        return _distribution
    if last in UPDATES and package.startswith(METRICS):
        return _metric
    return _TESTS.get(name)
