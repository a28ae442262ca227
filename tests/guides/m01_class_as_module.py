import torch_xla.amp.syncfree.Adam as adam  # expect: xla-removed-api
