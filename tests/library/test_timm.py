"""timm: what its training helpers do with tensors."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "accuracies and meters": """
        import timm
        from timm.utils import AverageMeter, accuracy
        top1, plain, losses = AverageMeter(), AverageMeter(), AverageMeter()
        probe.value(timm.utils.accuracy(h, h))  # is: [host tensor]
        for x in loader:
            loss = update(x)
            first, fifth = accuracy(model(x), x, topk=(1, 5))
            probe.value(first)  # is: device tensor
            losses.update(loss, x.size(0))
            top1.update(first.item(), x.size(0))  # expect: xla-value-read
            plain.update(3)
            print(losses.avg)  # expect: xla-print-tensor
            print(top1.avg, plain.avg, plain.count)
        losses.reset()
        print(losses.avg)
    """,
    "checkpoints": """
        from timm.utils import CheckpointSaver, get_state_dict, unwrap_model
        saver = CheckpointSaver(model=model, optimizer=optimizer, max_history=3)
        from timm.layers import convert_sync_batchnorm
        probe.value(convert_sync_batchnorm(unwrap_model(model)))  # is: device model Sequential
        if xm.is_master_ordinal():
            best, epoch = saver.save_checkpoint(3, metric=0.5)  # expect: xla-torch-save
        torch.save(get_state_dict(model), "model.pt")  # expect: xla-torch-save
        CheckpointSaver(nn.Linear(4, 4), None).save_recovery(3)
        xm.save(get_state_dict(model, unwrap_model), "model.pt")
    """,
    "a scaler that does the whole step": """
        from timm.utils import NativeScaler
        scaler = NativeScaler()  # expect: xla-foreign-grad-scaler
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).mean()
            scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
            print(loss.item())  # expect: xla-value-read
    """,
    "averages and schedules": """
        import timm.scheduler
        from timm.scheduler import CosineLRScheduler, create_scheduler_v2
        from timm.utils import ModelEma, ModelEmaV2
        average, first = ModelEmaV2(model, decay=0.9), ModelEma(model)
        schedule, epochs = create_scheduler_v2(optimizer, num_epochs=3)
        cosine = CosineLRScheduler(optimizer, t_initial=3)
        probe.value(average.module)  # is: device model Sequential
        probe.value(ModelEmaV2(model, device="cpu").module)  # is: host model Sequential
        for x in [torch.ones(2, 4, device=device)] * 99:  # expect: xla-missing-sync
            update(x)
            average.update(model)
            first.update(model)
            schedule.step_update(num_updates=3)
            cosine.step(3)
        with torch.no_grad():
            for x in loader:
                print(average(x).mean().item(), first.ema(x).mean().item())  # expect: xla-value-read
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
