import torch

RATES = {"adam": 1e-3, "sgd": 1e-1}


def optimizer_for(module, kind):
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if kind == "adam":
        return torch.optim.Adam(parameters, lr=RATES[kind])  # expect: xla-stale-optimizer
    return torch.optim.SGD(parameters, lr=RATES[kind], momentum=0.9)  # expect: xla-stale-optimizer
