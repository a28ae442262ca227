import torch_xla.amp.GradScaler as grad_scaler  # expect: xla-removed-api
