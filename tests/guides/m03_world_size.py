import torch
import torch_xla
import torch_xla.core.xla_model as xm

world_size = xm.xrt_world_size()  # expect: xla-removed-api
rank = xm.get_ordinal()  # expect: xla-removed-api
