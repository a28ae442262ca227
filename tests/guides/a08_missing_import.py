import torch_xla

device = xm.xla_device()  # expect: undefined-variable
