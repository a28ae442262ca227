"""Tensor operations by what they do to a lazy tensor.

Source: each name was run on torch 2.9.1 with torch_xla 2.9.0 on the CPU device and its compilations, executions
and transfers were counted; the proof tests run a part of them again.
"""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FACTORIES = _names(
    "arange empty eye full linspace logspace ones rand randint randn randperm tensor zeros tril_indices triu_indices "
    "from_numpy as_tensor normal empty_strided hann_window hamming_window range scalar_tensor"
)
"""Functions of `torch` that make a tensor from numbers, on the device that `device=` names."""

DRAWING_FACTORIES = _names("normal rand randint randn")
"""Those that draw random numbers."""

DRAWING_OPERATIONS = _names("uniform bernoulli random exponential geometric cauchy log_normal multinomial poisson")
"""Operations, in place or not, whose result is drawn at random whatever they are given."""

LIKE_FACTORIES = _names("empty_like full_like ones_like rand_like randint_like randn_like zeros_like")
NEW_FACTORIES = _names("new_empty new_full new_ones new_tensor new_zeros")

METADATA_ATTRIBUTES = _names(
    "dtype is_cuda is_leaf is_sparse is_xla itemsize layout names nbytes ndim output_nr requires_grad retains_grad "
    "shape is_quantized is_meta name grad_fn _version"
)
"""Attributes that are known without running anything."""

MODULE_METHODS = _names(
    "add_module apply bfloat16 buffers children compile cpu cuda double eval extra_repr float get_buffer "
    "get_extra_state get_parameter get_submodule half load_state_dict modules named_buffers named_children "
    "named_modules named_parameters parameters register_backward_hook register_buffer register_forward_hook "
    "register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook register_module "
    "register_parameter requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty train type "
    "xpu zero_grad"
)
"""The methods of `torch.nn.Module` (`dir`, torch 2.9.1)."""

METADATA_METHODS = _names(
    "size dim numel nelement ndimension stride element_size storage_offset get_device data_ptr is_contiguous "
    "is_floating_point is_complex is_signed is_shared is_pinned is_inference has_names is_same_size __hash__ __len__ "
    "type_as_str"
)
"""Methods that are known without running anything."""

FETCHES = _names("item __float__ __int__ __bool__ __index__ is_nonzero")
"""Methods that execute the pending graph for one value, and throw the result away."""

MATERIALISING_FETCHES = _names("tolist cpu")
"""Methods that execute the pending graph and leave the tensor materialised."""

COMPARING_FETCHES = _names("equal allclose")
"""Methods and functions of two tensors whose answer is a Python bool."""

DATA_SHAPES = _names("nonzero argwhere masked_select unique unique_consecutive bincount")
"""Operations whose result's shape depends on values."""

BOOLEAN = _names(
    "eq ne lt le gt ge greater greater_equal less less_equal not_equal isnan isinf isfinite isclose isin logical_and "
    "logical_or logical_not logical_xor bool any all isneginf isposinf isreal signbit"
)
"""Operations whose result is a tensor of booleans."""

INTEGER = _names("argmax argmin argsort long int short count_nonzero bucketize searchsorted floor_divide bincount")
"""Operations whose result is a tensor of integers."""

ELEMENTWISE = _names(
    "abs add sub mul div clamp clip cos sin tan tanh exp log log2 log1p sqrt rsqrt square pow neg sigmoid relu gelu "
    "silu float double half bfloat16 long int bool to type detach clone contiguous requires_grad_ softmax log_softmax "
    "masked_fill where eq ne lt le gt ge isnan isfinite logical_and logical_or logical_not round floor ceil sign "
    "type_as unsqueeze view_as expand_as cumsum nan_to_num reciprocal remainder clamp_min clamp_max normalize dropout"
)
"""Operations that keep the size of the first dimension."""

PASSING = _names(
    "detach clone contiguous to float half bfloat16 double type requires_grad_ unsqueeze squeeze transpose permute t"
)
"""Operations through which a concatenation still grows."""

SHARING = _names("detach detach_ contiguous requires_grad_")
"""Operations that give the same memory another name: they record nothing, and are pending as long as it is."""

UNDIFFERENTIABLE = _names("detach argmax argmin argsort sign floor ceil round count_nonzero") | BOOLEAN | INTEGER

SIZES_FROM_ARGUMENTS = _names(
    "zeros ones full rand randn randint empty eye view reshape expand repeat tile pad new_zeros new_ones new_full "
    "new_empty unflatten interpolate broadcast_to topk arange linspace chunk split tensor_split unfold "
    "resize_ one_hot randperm"
)
"""Operations that take sizes: a number that changes there is a new shape."""

BAKED_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "roll": ("shifts",),
    "tril": ("diagonal",),
    "triu": ("diagonal",),
    "diag": ("diagonal",),
    "diagonal": ("offset",),
    "diag_embed": ("offset",),
    "pow": ("exponent",),
    "float_power": ("exponent",),
    "narrow": ("dim", "start", "length"),
    "select": ("dim", "index"),
    "rot90": ("k",),
    "layer_norm": ("eps",),
}
"""Operations that build these Python numbers into the graph as constants, in the order of their parameters."""
