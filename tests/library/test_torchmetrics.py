"""Metrics of torchmetrics: where their results live, and which of them read."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "results": """
        import torchmetrics
        from torchmetrics.functional import accuracy
        mean = torchmetrics.MeanMetric().to(device)
        probe.value(mean)  # is: MeanMetric
        probe.value(mean.compute())  # is: device tensor
        probe.value(torchmetrics.MeanMetric().compute())  # is: some tensor
        probe.value(torchmetrics.MeanMetric()(t))  # is: device tensor
        probe.value(mean.update(t))  # is: None
        probe.value(torchmetrics.MetricCollection([mean]).to(device)(t, t))  # is: device output
        probe.value(accuracy(t, t, task="multiclass", num_classes=3))  # is: device tensor
        probe.value(mean.cpu().compute())  # is: host tensor
    """,
    "aggregators look for NaN": """
        import torchmetrics
        loud = torchmetrics.MeanMetric().to(device)
        filled = torchmetrics.aggregation.SumMetric(nan_strategy=0.0).to(device)
        quiet = torchmetrics.MaxMetric(nan_strategy="disable").to(device)
        for _ in range(9):
            loss = update(torch.ones(2, 4, device=device))
            loud.update(loss)  # expect: xla-hidden-read
            filled(loss)  # expect: xla-hidden-read
            quiet.update(loss)
            loud.update(3.0)
            torch_xla.sync()
    """,
    "the state of a metric of one's own": """
        from torchmetrics import Metric
        class Collected(Metric):
            def __init__(self):
                super().__init__()
                self.add_state("rows", default=torch.tensor([]), dist_reduce_fx="cat")
                self.add_state("total", torch.tensor(0.0), dist_reduce_fx="sum")
                self.add_state("parts", default=[], dist_reduce_fx="cat")
            def update(self, rows):
                self.rows = torch.cat([self.rows, rows])  # expect: xla-growing-tensor
                self.total += rows.sum()
                self.parts.append(rows)
            def compute(self):
                return torch.cat(self.parts).mean() + self.total
        updated, called = Collected().to(device), Collected().to(device)
        for x in loader:
            updated.update(model(x))
        for x in loader:
            called(model(x))
        probe.value(updated.total)  # is: device tensor
        print(updated.compute())
    """,
    "what a collection holds": """
        from torchmetrics import Metric, MetricCollection
        from torchmetrics.classification import BinaryF1Score, MulticlassAccuracy
        class Longer(Metric):
            def __init__(self):
                super().__init__()
                self.add_state("rows", default=torch.tensor([]), dist_reduce_fx="cat")
            def update(self, rows, truth):
                self.rows = torch.cat([self.rows, rows])  # expect: xla-growing-tensor
        named = {}
        named["f1"] = BinaryF1Score()
        named["own"] = Longer()
        mixed = MetricCollection(named).to(device)
        plain = MetricCollection([MulticlassAccuracy(num_classes=4), BinaryF1Score(validate_args=False)]).to(device)
        truth = torch.ones(2, device=device)
        for x in loader:
            mixed.update(model(x), truth)  # expect: xla-hidden-read
            plain.update(model(x), truth)
            mixed(model(x), truth)  # expect: xla-hidden-read
    """,
    "metrics of classification check what they are given": """
        import torchmetrics
        from torchmetrics.classification import BinaryF1Score, MulticlassAccuracy
        two = torchmetrics.Accuracy(task="binary").to(device)
        unchecked = BinaryF1Score(validate_args=False).to(device)
        several = MulticlassAccuracy(num_classes=4).to(device)
        for _ in range(9):
            guess, truth = model(torch.ones(2, 4, device=device)), torch.ones(2, device=device)
            two.update(guess, truth)  # expect: xla-hidden-read
            unchecked.update(guess, truth)
            several.update(guess, truth)
            several(guess.argmax(-1), truth)  # expect: xla-hidden-read
            torch_xla.sync()
    """,
    "collections do what their metrics do": """
        import torchmetrics
        from torchmetrics.classification import BinaryF1Score, MulticlassAccuracy, MulticlassRecall
        several = torchmetrics.MetricCollection([MulticlassAccuracy(4), MulticlassRecall(4)]).to(device)
        named = torchmetrics.MetricCollection({"loss": torchmetrics.MeanMetric()}).to(device)
        quiet = torchmetrics.MetricCollection([BinaryF1Score(validate_args=False)]).to(device)
        unknown = torchmetrics.MetricCollection(made_elsewhere()).to(device)
        for _ in range(9):
            guess, truth = model(torch.ones(2, 4, device=device)), torch.ones(2, device=device)
            several(guess.argmax(-1), truth)  # expect: xla-hidden-read
            several.update(guess, truth)
            named.update(guess)  # expect: xla-hidden-read
            quiet.update(guess, truth)
            unknown.update(guess, truth)
            torch_xla.sync()
    """,
    "metrics that were never moved add to what they keep on the host": """
        import torchmetrics
        from torchmetrics.regression import MeanSquaredError
        left, kept = MeanSquaredError(), torchmetrics.ConfusionMatrix(task="multiclass", num_classes=4)
        left = MeanSquaredError()
        table = torchmetrics.ConfusionMatrix(task="multiclass", num_classes=4)
        moved = MeanSquaredError()
        moved = moved.to(device)
        late = torchmetrics.MeanAbsoluteError()
        late.to(device)
        given = torchmetrics.MeanAbsoluteError()
        model.error = given
        following = torchmetrics.Accuracy(task="multiclass", num_classes=4)
        held = {"mse": MeanSquaredError()}
        for _ in range(9):
            guess, truth = model(torch.ones(2, 4, device=device)), torch.ones(2, 4, device=device)
            left.update(guess, truth)  # expect: xla-hidden-read
            table(guess, truth)  # expect: xla-hidden-read
            moved.update(guess, truth)
            late.update(guess, truth)
            given.update(guess, truth)
            kept.update(guess, truth)
            following.update(guess, truth)
            held["mse"].update(guess, truth)
            left.update(guess.shape[0], 3.0)
            torch_xla.sync()
        probe.value(left.compute())  # is: host tensor
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
