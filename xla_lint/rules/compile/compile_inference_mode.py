"""`xla-compile-inference-mode`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import InferenceMode
from xla_lint.program.queries import only_calls
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

VIEWLESS = frozenset(
    "abs acos add addcdiv addcmul all amax amin any argmax argmin asin atan cat ceil clamp clamp_max clamp_min cos "
    "cosh cumsum detach div eq erf exp expm1 float floor full_like ge gelu gt isfinite isinf isnan le log log1p log2 "
    "log_softmax logical_and logical_not logical_or logsumexp lt masked_fill maximum mean minimum mul ne neg norm "
    "ones_like pow prod reciprocal relu round rsqrt sigmoid sign silu sin sinh softmax softplus sqrt square std sub "
    "sum tan tanh to type where zeros_like var len range min max".split()
)
"""Functions and methods, by last name, that compute without a view of what they are given."""


class CompileInferenceMode(Rule):
    """`inference_mode` is turned on inside compiled code: compiling fails.

    ## What it does
    Finds `torch.inference_mode` inside what `torch.compile` traces for a TPU: as a decorator below the one that
    compiles, on a compiled `forward` or a helper that it calls, and as a `with` in its body. The finding stands at the
    decorator, or at the `with`.

    ## Why it matters
    Compiling fails with a bare "weakref" or with "Cannot set version_counter for inference tensor" as soon as
    the region takes a view of a tensor from outside. Every `nn.Linear` and convolution does, since it transposes or
    reshapes its weight; so do indexing, `view` and `T`. It is a bug of PyTorch (pytorch/pytorch issue 169477; seen on
    torch 2.9.1 with its own tracing backends), and TorchTPU's documentation lists it among its errors.

    ## What to write instead
    ```python
    @torch.compile(backend="tpu", dynamic=False)
    @torch.no_grad()
    def embed(x):
        return model(x)
    ```

    Or turn it on around the call: `with torch.inference_mode(): embed(x)`.

    ## When it is fine
    Above the decorator that compiles, around calls of what is compiled, `inference_mode(False)`, and around pure
    arithmetic and reductions, which take no view.
    """

    symbol = "xla-compile-inference-mode"
    number = "9775"
    severity = Severity.ERROR
    message = (
        "inference_mode is turned on inside compiled code: compiling fails as soon as a tensor from outside is viewed,"
        " as every Linear and convolution does; use torch.no_grad() there, or inference_mode around the call"
    )
    subscribes = (InferenceMode,)
    needs = (Property.CUTS_VIEWS_OF_INFERENCE,)
    modes = EVERYWHERE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report regions that may take a view."""
        if isinstance(event, InferenceMode) and not only_calls(event.region, VIEWLESS):
            yield self.finding(event.node, Confidence.CONTROL_FLOW if event.context.doubt >= 0 else Confidence.HIGH)
