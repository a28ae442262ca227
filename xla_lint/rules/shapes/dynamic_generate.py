"""`xla-dynamic-generate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import Instance, Location
from xla_lint.program.queries import setting
from xla_lint.rules.arguments import constant, given
from xla_lint.rules.base import OUTSIDE_COMPILED, Confidence, Rule, Severity
from xla_lint.rules.wording import where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

GROWING_CACHES = frozenset({"dynamic", "dynamic_full", "offloaded", "quantized"})
"""The values of `cache_implementation` whose cache grows with every token."""


class DynamicGenerate(Rule):
    """`generate` of transformers runs on the device with a growing cache.

    ## What it does
    Finds calls of a transformers model's `generate` on an XLA device that ask for no static cache. Calls that pass
    a `generation_config`, `past_key_values`, or unpacked keyword arguments other than a tokenizer's tensors are left
    alone, because the cache may be chosen there. The finding stands at the call.

    ## Why it matters
    By reading transformers 5.24: `generate` is a Python loop over tokens without anything for XLA in it. The default
    cache and the token ids are one longer at each token, so every token is a graph of a new shape, and the test
    whether all sequences have ended reads a value for every token. Prompts of another length start all over.

    ## What to write instead
    ```python
    model.generate(ids, cache_implementation="static", max_new_tokens=64)
    ```

    with prompts padded to one length. The static cache keeps its shape, but the loop still grows the token ids and
    reads once per token. Where throughput matters, write the decoding loop by hand, with `index_copy` into tensors
    of full size, or use a serving library made for the device.

    ## When it is fine
    For a handful of tokens now and then, or on a model that stayed on the host.

    ## On TorchTPU and TorchNeuron
    On TorchTPU it was reported by those who ported; a static cache compiled once. TorchNeuron was not examined.
    """

    symbol = "xla-dynamic-generate"
    number = "9729"
    severity = Severity.WARNING
    message = (
        "generate uses a cache that grows%(where)s: every token has a new shape and is compiled again; pass"
        ' cache_implementation="static", and pad the prompts to one length'
    )
    subscribes = (LibraryCall,)
    needs = (Property.GROWS_BY_TOKEN,)
    modes = OUTSIDE_COMPILED

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Generation by a model."""
        return call == "transformers.PreTrainedModel.generate"

    def check(self, event: Event) -> Iterator[Finding]:
        """Report generation on the device without a static cache."""
        if not isinstance(event, LibraryCall):
            return
        model, cache = event.receiver, event.kwargs.get("cache_implementation")
        if not isinstance(model, Instance) or model.place is not Location.DEVICE:
            return
        elsewhere = event.argument(1, "generation_config"), event.kwargs.get("past_key_values")
        if event.unpacked and "**" not in event.kwargs:
            return
        if setting(setting(model, "generation_config"), "cache_implementation") is not None:
            return
        if any(given(value) for value in elsewhere):
            return
        if not given(cache) or constant(cache) in GROWING_CACHES:
            yield self.finding(event.node, Confidence.of(model.certain), where=where(event.context))
