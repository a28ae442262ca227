import torch_xla.core.xla_model as xm


class Report:
    def __init__(self, leads):
        self.leads = leads

    def step(self, step, loss):
        show(self.leads, f"step {step}", loss)

    def finish(self, model, path):
        save(self.leads, model, path)


def show(leads, label, loss):
    if leads:
        print(label, loss.item())  # expect: xla-rank-read


def save(leads, model, path):
    if leads:
        xm.save(model.state_dict(), path)
        xm.rendezvous("saved")  # expect: xla-rank-divergence
