"""What calls of libraries mean, by canonical dotted name. One module a library; `registry` collects them."""

from xla_lint.program.library import (
    accelerate,
    autograd,
    builtin,
    collectives,
    data,
    frameworks,
    networks,
    precision,
    sagemaker,
    saves,
    standard,
    tensors,
    torch_functions,
    xla,
)
from xla_lint.program.library.registry import call_library, call_method, enter_library, iterate_library

__all__ = [
    "accelerate",
    "autograd",
    "builtin",
    "call_library",
    "call_method",
    "collectives",
    "data",
    "enter_library",
    "frameworks",
    "iterate_library",
    "networks",
    "precision",
    "sagemaker",
    "saves",
    "standard",
    "tensors",
    "torch_functions",
    "xla",
]
