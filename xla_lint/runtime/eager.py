"""Where a program switches to eager mode, in which torch_xla writes no records."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from xla_lint.runtime.counts import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

SWITCH = "_set_use_eager_mode"
"""How torch_xla 2.9 itself switches it on and off."""


def eagerly(call: Callable[[], None]) -> None:
    """Call `call` whenever eager mode is switched on."""
    extension = runtime("torch_xla")._XLAC
    switch = getattr(extension, SWITCH)

    @functools.wraps(switch)
    def wrapper(enable: Any) -> Any:
        if enable:
            call()
        return switch(enable)

    setattr(extension, SWITCH, wrapper)
