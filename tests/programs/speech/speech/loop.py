from torch.nn import functional


def train(model, optimizer, loader, meter):
    for frames, phones in loader:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(frames), phones)
        loss.backward()
        optimizer.step()
        meter.add(loss.detach())
