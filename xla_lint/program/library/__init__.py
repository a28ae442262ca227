"""What calls of libraries mean, by canonical dotted name. One module a library; `registry` collects them."""

from xla_lint.program.library import (
    accelerate,
    builtin,
    data,
    frameworks,
    networks,
    standard,
    tensors,
    torch_functions,
    xla,
)
from xla_lint.program.library.registry import call_library, call_method, enter_library, iterate_library

__all__ = [
    "accelerate",
    "builtin",
    "call_library",
    "call_method",
    "data",
    "enter_library",
    "frameworks",
    "iterate_library",
    "networks",
    "standard",
    "tensors",
    "torch_functions",
    "xla",
]
