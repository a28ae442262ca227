import torch_xla


def place(*modules):
    device = torch_xla.device()
    for module in modules:
        module.to(device)
    return device
