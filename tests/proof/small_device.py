"""A device of our own, in memory of the host: what PyTorch does with a type of device that it does not list.

Its kernels are those that a move needs, and one by which a backend says that a tensor of the host can become one of
the device in place: TorchNeuron registers it, TorchTPU does not. Run as a script, as it cannot be unloaded, it prints
what a move does without that kernel and with it. It takes a compiler, and half a minute.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

NAME = "small"
SOURCE = r"""
#include <torch/extension.h>
#include <ATen/EmptyTensor.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <cstdlib>
#include <cstring>

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = std::malloc(bytes ? bytes : 1);
    return {data, data, &std::free, c10::Device(c10::DeviceType::PrivateUse1, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
};
static Memory memory;
static const c10::DispatchKeySet KEYS(c10::DispatchKey::PrivateUse1);

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &memory, KEYS, type.value_or(at::kFloat), format);
}
at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> type,
                         std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &memory, KEYS, type.value_or(at::kFloat));
}
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
  return to;
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
}
void register_check() {
  static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  static torch::Library outer(torch::Library::IMPL, "aten", c10::DispatchKey::AutogradPrivateUse1, __FILE__, __LINE__);
  for (auto* each : {&library, &outer})
    each->impl("_has_compatible_shallow_copy_type", [](const at::Tensor&, const at::Tensor&) { return true; });
}
TORCH_LIBRARY(small_device, m) { m.def("register_check", &register_check); }
C10_REGISTER_GUARD_IMPL(PrivateUse1, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1>);
"""


class Tied(nn.Module):
    """Two layers that share a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
        self.second.weight = self.first.weight


def build(folder: Path) -> None:
    """Compile the device into a folder, and load it: from then on it is torch's accelerator in this process."""
    load_inline("small_device", SOURCE, build_directory=str(folder), is_python_module=False)
    torch.utils.rename_privateuse1_backend(NAME)
    module = ModuleType(f"torch.{NAME}")
    module.__dict__.update(_lazy_init=lambda: None, is_available=lambda: True, device_count=lambda: 1)
    torch._register_device_module(NAME, module)


def moved() -> dict[str, bool]:
    """What a move to the device does with a model's parameters, and with those that an optimizer holds."""
    model, tied = nn.Linear(4, 4), Tied()
    weight = model.weight
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.to(NAME)
    tied.to(NAME)
    held = {parameter.device.type for parameter in optimizer.param_groups[0]["params"]}
    return {
        "moves": {parameter.device.type for parameter in model.parameters()} == {NAME},
        "keeps": model.weight is weight,
        "optimizer follows": held == {NAME},
        "stay tied": tied.first.weight is tied.second.weight,
    }


if __name__ == "__main__":
    build(Path(sys.argv[1]))
    unlisted = moved()
    torch.ops.small_device.register_check()
    print(json.dumps({"unlisted": unlisted, "registered": moved()}))
