"""How values are followed through Python: each line says what is to be found on it, all others nothing."""

from __future__ import annotations

import textwrap

import pytest

from tests.library.cases import verify

IMPORTS = """\
import collections, enum, functools, itertools, os, time
from dataclasses import dataclass, replace
"""
CASES = {
    "a comprehension over a loader is a step loop": """
        for epoch in range(3):
            losses = [update(x) for x in loader]
            print(torch.stack(losses).mean().item())
            numbers = [update(x).item() for x in loader]  # expect: xla-value-read
    """,
    "a generator is a step loop for its consumer": """
        def pending():
            while True:
                yield update(torch.ones(2, 4, device=device))
                torch_xla.sync()

        def materialised():
            while True:
                loss = update(torch.ones(2, 4, device=device))
                torch_xla.sync()
                yield loss

        for loss in itertools.islice(pending(), 9):
            print(float(loss))  # expect: xla-value-read
        for loss in itertools.islice(materialised(), 9):
            print(float(loss))  # expect: xla-late-read
    """,
    "the end of a wrapped loader is a barrier": """
        for epoch in range(3):
            for x in loader:
                loss = update(x)
            if xm.is_master_ordinal():
                print(loss.item())
        for x in loader:
            loss = update(x)
            break
        if xm.is_master_ordinal():
            print(loss.item())  # expect: xla-rank-read
    """,
    "partial of several functions, or of one for a loader": """
        def first(net, x, scale):
            return net(x).sum().item() * scale  # expect: xla-value-read
        def second(net, x, scale):
            return net(x).sum().item() * scale  # expect: xla-value-read
        def third(net, x, **options):
            return options["total"](net(x)).item()  # expect: xla-value-read
        def pad(value, rows):
            return nn.utils.rnn.pad_sequence(rows, padding_value=value)  # expect: xla-dynamic-padding

        rows = [torch.ones(n) for n in range(3, 19)]
        collate = functools.partial(pad, 0.0)
        batches = MpDeviceLoader(DataLoader(rows, batch_size=4, drop_last=True, collate_fn=collate), device)
        for x in batches:
            chosen = first if os.environ.get("FIRST") else second
            functools.partial(chosen, scale=2)(model, x)
            functools.partial(functools.partial(third, model), total=torch.sum)(x)
    """,
    "what is called is a model, not a tensor": """
        from elsewhere import Pair
        def make(both):
            def train(x):
                first, second = both(x)
                loss = (torch.relu(first) + second).mean()
                loss.backward()
                return {"loss": loss.item(), "second": second.mean().item()}  # expect: xla-value-read
            return train

        pair = Pair().to(device)
        adam = torch.optim.Adam(pair.first.parameters())
        train = make(pair)
        for x in loader:
            train(x)
    """,
    "parts of a model of torchvision, and parameters by name": """
        from torchvision.models.inception import inception_v3
        class Wrap(nn.Module):
            def __init__(self, net):
                super().__init__()
                self.net = net
            def forward(self, x):
                return self.net.fc(self.net.first(x).mean(2))
        wrap = Wrap(inception_v3()).to(device)
        for x in loader:
            print(wrap(x).cpu())  # expect: xla-value-read
            weights = dict(model.named_parameters())
            print(weights["0.weight"].norm().item())  # expect: xla-value-read
    """,
    "a function that chooses by type": """
        @functools.singledispatch
        def show(value):
            return float(value)
        @show.register
        def _(value: torch.Tensor):
            return value.item()  # expect: xla-value-read
        @show.register(list)
        def _(value):
            return value[0].item()

        @functools.singledispatch
        def first(value):
            return value.item()  # expect: xla-value-read
        @first.register(dict)
        def _(value):
            return value["loss"].item()

        for x in loader:
            loss = update(x)
            print(show(loss), show([loss]), show(3), first(loss), first({"loss": loss}))
    """,
    "a function with a backward pass of its own": """
        class Clamp(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, low):
                ctx.save_for_backward(x)
                if x.mean() > low:  # expect: xla-tensor-branch
                    return x.clone()
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                print(x.shape, (x * grad).sum().item())  # expect: xla-value-read
                return grad, None

        class Quiet(torch.autograd.Function):
            @staticmethod
            def forward(x):
                return x.clone()
            @staticmethod
            def setup_context(ctx, inputs, output):
                print(output.norm().item())  # expect: xla-value-read
            @staticmethod
            def backward(ctx, grad):
                print(grad.norm().item())
                return grad

        with torch.no_grad():
            for x in loader:
                Quiet.apply(model(x))
        clamp = Clamp.apply
        for x in loader:
            loss = clamp(model(x), 0.0).mean()
            loss.backward()
            optimizer.step()
            print(loss.item())  # expect: xla-value-read
    """,
    "what hooks of tensors and optimizers are given": """
        def watch(grad):
            print(grad.norm().item())  # expect: xla-value-read
        def accumulated(parameter):
            print(parameter.grad.norm().item())  # expect: xla-value-read
        def stepped(optimizer, args, kwargs):
            for p in optimizer.param_groups[0]["params"]:
                print(p.norm().item(), optimizer.param_groups[0]["lr"])  # expect: xla-value-read
        def never(grad):
            print(grad.norm().item())
        def lost(grad):
            print(grad.norm().item())

        late = nn.Linear(4, 4)
        late.weight.register_hook(lost)
        late.to(device)
        model[0].weight.register_hook(watch)
        optimizer.register_step_post_hook(stepped)
        for p in model.parameters():
            p.register_post_accumulate_grad_hook(accumulated)
        for x in loader:
            update(x)
        model[0].weight.register_hook(never)
    """,
    "what a Trainer gives its callbacks by keyword": """
        from transformers import TrainerCallback
        class Watch(TrainerCallback):
            def on_step_end(self, args, state, control, model=None, **kwargs):
                self.last = model.classifier.weight.norm().item()  # expect: xla-value-read
                print(model.config.hidden_size, state.global_step)
            def on_substep_end(self, args, state, control, **kwargs):
                weight = kwargs["model"].get_input_embeddings().weight
                print(weight.norm().item())  # expect: xla-value-read
                print(kwargs["lr_scheduler"].get_last_lr()[0], kwargs["logs"])
            def on_train_end(self, args, state, control, model=None, **kwargs):
                print(model.classifier.weight.norm().item())
    """,
    "what is made under a device": """
        def build():
            with device:
                return nn.Linear(4, 1), torch.ones(2, 4)

        made, there = build()
        fresh = torch.optim.SGD(made.parameters(), lr=0.1)
        made.to(device)
        here = torch.ones(2, 4)
        for x in loader:
            fresh.step()
            print(here.sum().item(), (there + 1).sum().item())  # expect: xla-value-read
            with torch.device("cpu"):
                print(torch.ones(4).sum().item())
            with torch.device("meta"):
                print(torch.ones(4).shape)
    """,
    "what is made on the default device": """
        def choose():
            torch.set_default_device(device)

        before = nn.Linear(4, 1)
        choose()
        after = nn.Linear(4, 1)
        stale = torch.optim.SGD(before.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        fresh = torch.optim.SGD(after.parameters(), lr=0.1)
        before.to(device), after.to(device)
        for x in loader:
            stale.step(), fresh.step()
            print(torch.ones(4).sum().item())  # expect: xla-value-read
            print(torch.ones(4, device="cpu").sum().item())
        torch.set_default_device("cpu")
        for x in loader:
            print(torch.ones(4).sum().item())
    """,
    "a tokenizer that datasets are given": """
        from transformers import AutoTokenizer
        class Rows(torch.utils.data.Dataset):
            def __init__(self, texts, tokenizer):
                self.texts, self.tok = texts, tokenizer
            def __getitem__(self, i):
                return self.tok(self.texts[i], padding="max_length", max_length=9)  # expect: xla-incomplete-padding
        class Whole(Rows):
            def __getitem__(self, i):
                return self.tok(self.texts[i], padding="max_length", max_length=9, truncation=True)

        tokenizer = AutoTokenizer.from_pretrained("gpt2")
        for rows in (Rows(["a", "b"], tokenizer), Whole(["a", "b"], tokenizer)):
            for x in MpDeviceLoader(DataLoader(rows, batch_size=4, drop_last=True), device):
                update(x)
        tokenizer("a prompt", padding="max_length", max_length=9)
    """,
    "partial binds the arguments of libraries": """
        Quiet = functools.partial(torch.distributions.Normal, validate_args=False)
        Checked = functools.partial(torch.distributions.Normal, scale=torch.ones(4, device=device))
        clip = functools.partial(nn.utils.clip_grad_norm_, max_norm=1.0, error_if_nonfinite=True)
        for x in loader:
            Quiet(model(x), 1.0)
            Checked(model(x))  # expect: xla-hidden-read
            update(x)
            clip(model.parameters())  # expect: xla-syncing-clip
    """,
    "partial binds the arguments of a launch": """
        def train(index, width, steps):
            pass

        if __name__ == "__main__":
            torch_xla.launch(functools.partial(train, width=4, steps=3), debug_single_process=True)
            narrow = functools.partial(train, width=4)
            torch_xla.launch(narrow, debug_single_process=True)  # expect: xla-launch-arguments
    """,
    "the rest of a division is periodic": """
        for step, x in enumerate(loader):
            loss = update(x)
            group, rest = divmod(step, 4)
            if rest == 0:
                print(loss.item())  # expect: xla-periodic-read
    """,
    "a property of an object that was changed": """
        @dataclass
        class Plan:
            step: int = 0

            @property
            def length(self):
                return min(4, 1 + self.step)

            def advance(self):
                self.step += 1

        plan = Plan()
        for x in loader:
            update(x[:, : plan.length])  # expect: xla-changing-shape
            plan.advance()
    """,
    "a record that is replaced": """
        @dataclass
        class State:
            step: int = 0
            loss: object = None

        state = State()
        for x in loader:
            state = replace(state, loss=update(x))
            print(float(state.loss))  # expect: xla-value-read
    """,
    "hooks of a model run every step": """
        class Watch:
            def __init__(self):
                self.seen = []

            def largest(self, module, inputs, output):
                self.seen.append(output.abs().max().item())  # expect: xla-value-read

            def shape(self, module, inputs, output):
                self.seen.append(tuple(output.shape))

        watch = Watch()
        model.register_forward_hook(watch.largest)
        model[0].register_forward_hook(watch.shape)
        for x in loader:
            update(x)
    """,
    "a hook of a model on the host": """
        def show(module, inputs, output):
            print(output.mean().item())

        other = nn.Linear(4, 1)
        other.register_forward_hook(show)
        other(torch.ones(2, 4))
    """,
    "settings in a dict": """
        SETTINGS = {"XLA_USE_BF16": "1"}
        for key, value in SETTINGS.items():
            os.environ[key] = value  # expect: xla-ineffective-env
        os.environ.update(SETTINGS)  # expect: xla-ineffective-env
    """,
    "a short loop with a barrier behind it": """
        @torch.no_grad()
        def polish(x, rounds=3):
            for _ in range(rounds):
                x = model(x)
            torch_xla.sync()
            return x

        polish(torch.ones(2, 4, device=device))
    """,
    "a short loop without one": """
        @torch.no_grad()
        def polish(x, rounds=3):
            for _ in range(rounds):  # expect: xla-missing-sync
                x = model(x)
            return x

        polish(torch.ones(2, 4, device=device))
    """,
    "handlers by the members of an enumeration": """
        class Event(enum.Enum):
            STEP = enum.auto()
            EPOCH = enum.auto()

            @property
            def title(self):
                return self.name.title() + self.value

        class Bus:
            def __init__(self):
                self.handlers, self.hooks = collections.defaultdict(list), {}

            def on(self, event, handler):
                self.handlers[event].append(handler)
                self.hooks.setdefault(event, []).append(handler)

            def emit(self, event, loss):
                for handler in self.handlers[event] + self.hooks.get(event, []):
                    handler(event, loss)

        def on_step(event, loss):
            print(event.title, loss.item())  # expect: xla-value-read

        def on_epoch(event, loss):
            print(event.value, loss.item())

        TABLE = {Event.STEP: on_step, Event.EPOCH: on_epoch}
        bus = Bus()
        bus.on(Event.STEP, on_step)
        bus.on(Event.EPOCH, on_epoch)
        for epoch in range(3):
            for x in loader:
                loss = update(x)
                TABLE[Event.STEP](Event.STEP, loss)
                bus.emit(Event.STEP, loss)
            TABLE[Event.EPOCH](Event.EPOCH, loss)
            bus.emit(Event.EPOCH, loss)
    """,
    "handlers by an unknown member": """
        class Event(enum.IntEnum):
            STEP = 1
            EPOCH = 2

        def on_step(loss):
            print(loss.item())  # expect: xla-value-read

        HANDLERS = {Event.STEP: on_step}
        for event in list(Event) * 9:
            HANDLERS[event](update(torch.ones(2, 4, device=device)))
            torch_xla.sync()
    """,
    "calls that spell apart what a function does": """
        def report(kind, loss, verbose=False):
            if kind == "step":
                print(loss.item())  # expect: xla-value-read
            if kind == "epoch":
                print(loss.item())
            if verbose:
                print(loss.item())  # expect: xla-value-read

        for epoch in range(3):
            for x in loader:
                loss = update(x)
                report("step", loss)
            report("epoch", loss)
    """,
    "a setting that all calls spell alike": """
        def report(loss, mode):
            if mode == "full":
                print(loss.item())  # expect: xla-value-read

        class Report:
            def __init__(self, loud):
                self.loud = loud

            def __call__(self, loss):
                if self.loud:
                    print(loss.item())  # expect: xla-value-read

        quiet, loud = Report(False), Report(True)
        for x in loader:
            loss = update(x)
            report(loss, mode="short")
            quiet(loss)
    """,
    "an ensemble sees one batch": """
        def vote(models, x):
            total = 0
            for one in models:
                total = total + one(x)
            torch_xla.sync()
            return total

        vote([nn.Linear(4, 4).to(device) for _ in range(3)], torch.ones(2, 4, device=device))
    """,
    "a Sequential runs its modules": """
        class Apply(nn.Module):
            def __init__(self, fn):
                super().__init__()
                self.fn = fn

            def forward(self, x):
                return self.fn(x)

        def clean(x):
            x = x.clone()
            x[x < 0.1] = 0.0  # expect: xla-data-dependent-shape
            return x

        def look(x):
            print(x)  # expect: xla-print-tensor
            return x

        def shy(x):
            print(x.shape)
            return x

        stack = nn.Sequential(nn.Linear(4, 4), Apply(clean), nn.Sequential(Apply(look), nn.ReLU()), Apply(shy))
        stack.to(device)
        for _ in range(9):
            update(stack(torch.ones(2, 4, device=device)))
            torch_xla.sync()
    """,
    "a model from elsewhere is moved twice": """
        from zoo import pick

        other = pick("small").to(device)
        steps = torch.optim.SGD(other.parameters(), lr=0.1)
        other.load_state_dict(torch.load("small.pt"))
        other = other.to(device)
        for x in loader:
            other(x).mean().backward()
            steps.step()
            steps.zero_grad()
    """,
    "a model that is built in one way or another is moved twice": """
        class Either(nn.Module):
            def __init__(self, wide):
                super().__init__()
                if isinstance(wide, tuple):
                    self.inner = nn.Linear(4, 4)
                else:
                    self.inner = nn.Conv1d(4, 4, 1)

            def forward(self, x):
                return self.inner(x)

        chosen = Either(os.environ["WIDE"]).to(device)
        steps = torch.optim.SGD(chosen.parameters(), lr=0.1)
        chosen = chosen.to(device)
        for x in loader:
            chosen(x).mean().backward()
            steps.step()
            steps.zero_grad()
    """,
    "hooks that were there before the move": """
        class Spied(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(4, 4)
                self.body.register_forward_hook(self.spy)

            def spy(self, module, given, out):
                print(out.mean().item())  # expect: xla-value-read

            def forward(self, x):
                return self.body(x)

        spied = Spied().to(device)
        for x in loader:
            update(spied(x))
    """,
    "layers and attributes that are set by name": """
        class Wrap(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, x):
                print(x.abs().max().item())  # expect: xla-value-read
                return self.inner(x)

        class Runner:
            def __init__(self, **parts):
                self.__dict__.update(parts)

            def run(self):
                for x in loader:
                    print(self.net(x).mean().item())  # expect: xla-value-read

        class Named:
            def __init__(self, **parts):
                for name, part in parts.items():
                    setattr(self, name, part)

            def run(self):
                for x in loader:
                    print(self.net(x).mean().item())  # expect: xla-value-read

        stack = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        for name, child in stack.named_children():
            setattr(stack, name, Wrap(child))
        Runner(net=stack.to(device)).run()
        Named(net=model, rate=0.1).run()
    """,
    "what happens once is not every step": """
        first, seen, started = True, False, None
        for x in loader:
            loss = update(x)
            if first:
                print(loss.item())
                first = False
            if not seen:
                print(loss.item())
                seen = True
            if started is None:
                print(loss.item())
                started = time.time()
            if first:
                print(loss.item())  # expect: xla-value-read
            try:
                check(x)
            except RuntimeError:
                print(loss.item())
                raise
            try:
                check(x)
            except RuntimeError:
                print(loss.item())  # expect: xla-value-read
    """,
    "a latch that is opened again in every turn": """
        for x in loader:
            again = True
            loss = update(x)
            if again:
                print(loss.item())  # expect: xla-value-read
                again = False
    """,
    "a latch on an object": """
        class Trainer:
            def __init__(self):
                self.fresh = True
                self.tried = True

            def step(self, x):
                loss = update(x)
                if self.fresh:
                    print(loss.item())
                    self.fresh = False
                if self.tried:
                    print(loss.item())  # expect: xla-value-read
                    self.tried = False

            def reset(self):
                self.tried = True

        trainer = Trainer()
        for x in loader:
            trainer.step(x)
            trainer.reset()
    """,
    "an optimizer step beside an evaluation": """
        for path in ("a", "b"):
            optimizer.step()
            torch_xla.sync()
            total = torch.zeros((), device=device)
            with torch.no_grad():
                for x in loader:
                    total += model(x).sum()
            print(path, total.cpu())
    """,
    "a generator that samples and cuts": """
        @torch.no_grad()
        def sample(steps):
            x = torch.zeros(2, 4, device=device)
            for _ in range(steps):
                x = model(x)
                torch_xla.sync()
                yield x

        for x in sample(9):
            print(x.mean().item())  # expect: xla-value-read
    """,
    "numbers that no machine has": """
        for number in (int(1e400), len(range(0, 10**30)), [1, 2][::0], range()):
            print(number)
        for x in loader:
            print(update(x).item())  # expect: xla-value-read
    """,
    "two networks that collect gradients in turn": """
        second = nn.Linear(4, 1).to(device)
        steps = torch.optim.SGD(second.parameters(), lr=0.1)
        for x in range(900):
            for _ in range(int(os.environ["CRITIC_STEPS"])):
                for _ in range(3):
                    second(torch.ones(2, 4, device=device)).mean().backward()
                steps.step()
            for _ in range(3):
                loss = second(model(torch.ones(2, 4, device=device))).mean()
                loss.backward()
            optimizer.step()
            print(loss.item())  # expect: xla-value-read
            torch_xla.sync()
    """,
    "flags for a backend, asked either way": """
        use_tpu = bool(os.environ["TPU"])
        for x in loader:
            loss = model(x).mean()
            loss.backward()
            if not use_tpu:
                optimizer.step()
                print(loss.item())
            else:
                xm.optimizer_step(optimizer)
            optimizer.zero_grad()
    """,
    "what the device is called decides": """
        def on_tpu(where):
            return str(where).startswith("xla")

        checks = not on_tpu(device)
        for x in loader:
            loss = update(x)
            if checks and loss.isnan().any():
                continue
            if "xla" not in str(device) or any(p.is_cuda for p in model.parameters()):
                print(loss.item())
            if on_tpu(device):
                print(loss.item())  # expect: xla-value-read
    """,
    "a model knows whether it trains": """
        class Watched(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Linear(4, 4)

            def forward(self, x):
                if not self.training:
                    print(x.sum().item())
                if self.training:
                    print(x.mean().item())  # expect: xla-value-read
                return self.inner(x)

        watched = Watched().to(device).train()
        for x in loader:
            watched(x).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    """,
    "the state of an optimizer": """
        for x in loader:
            update(x)
            for number, values in optimizer.state_dict()["state"].items():
                print(number, list(values))
                for name, value in values.items():
                    print(name, value)  # expect: xla-late-read
    """,
    "operators of one's own": """
        class Meter:
            def __init__(self):
                self.total, self.last = 0.0, torch.zeros(2, device=device)

            def __iadd__(self, loss):
                self.total += loss.item()  # expect: xla-value-read
                return self

            def __lshift__(self, loss):
                print(loss)  # expect: xla-print-tensor
                return self

            def __lt__(self, loss):
                return self.total < float(loss)  # expect: xla-value-read

            def __contains__(self, loss):
                return loss.item() == self.total  # expect: xla-value-read

            def __str__(self):
                return f"{self.total:.3f}"

        class Quiet:
            def __init__(self, loss):
                self.loss = loss

        @dataclass
        class Loud:
            loss: torch.Tensor

        meter = Meter()
        for x in loader:
            meter += update(x)
            meter << update(x)
            if meter > 3 or meter < update(x) or update(x) in meter:
                break
            print(meter, Quiet(update(x)))
            print(Loud(update(x)))  # expect: xla-print-tensor
    """,
    "a batch that is an object": """
        @dataclass
        class Batch:
            x: torch.Tensor
            n: int = 0

        def collate(rows):
            return Batch(torch.stack(rows))

        rows = DataLoader([torch.ones(4)] * 8, batch_size=2, drop_last=True, collate_fn=collate)
        for batch in MpDeviceLoader(rows, device):
            total = (batch.x * 2).sum()
            print(total.item())  # expect: xla-value-read
    """,
    "a number that torch draws on the host": """
        rows = torch.rand(64, 4)
        for x in loader:
            if torch.rand(1) < 0.1:  # expect: xla-host-random
                x = x + 1
            if float(torch.rand([])) < 0.1:  # expect: xla-host-random
                x = x * 2
            if rows.max() > 0.5:
                x = x - 1
            update(x)
    """,
    "a batch of tensors and texts": """
        def choose(v):
            return v.to(device) if torch.is_tensor(v) else v

        for row in DataLoader(texts, batch_size=8, drop_last=True):  # expect: xla-unwrapped-loader
            batch = {k: v.to(device) if hasattr(v, "to") else v for k, v in row.items()}
            named = {k: choose(v) for k, v in row.items()}
            loss = update(batch["x"])
            print(batch["name"], named["name"])
            print([v for v in (loss, 3) if isinstance(v, int)])
            print({k: v for k, v in {"loss": loss, "n": 3}.items() if isinstance(v, (int, float))})
            print(batch["x"].item(), loss)  # expect: xla-late-read, xla-print-tensor
            torch_xla.sync()
    """,
    "what happens once": """
        WINDOWS = {}

        def window(size):
            if size not in WINDOWS:
                WINDOWS[size] = torch.ones(1, size).to(device)
            return WINDOWS[size]

        for x in loader:
            loss = update(x * window(4))
            if loss.isnan():  # expect: xla-tensor-branch
                print(loss.item())
                raise FloatingPointError(f"loss is {loss}")
            try:
                if x.shape[0] > 2:
                    print(loss.item())  # expect: xla-value-read
                    raise ValueError
            except ValueError:
                pass
    """,
    "the rows of a beam are put in another order": """
        with torch.no_grad():
            beams = torch.zeros(3, 1, dtype=torch.long, device=device)
            kept = torch.zeros(3, 1, dtype=torch.long, device=device)
            last = torch.zeros(3, 8, device=device)
            for _ in range(9):
                rows, words = model(last[:, -4:]).topk(3).indices.unbind(-1)[:2]
                beams = torch.cat([beams[rows], words[:, None]], dim=1)  # expect: xla-growing-tensor
                kept = torch.cat([kept.index_select(0, rows), words[:, None]], dim=1)  # expect: xla-growing-tensor
                last = torch.cat([last[:, 1:], words[:, None]], dim=1)
                torch_xla.sync()
    """,
    "a patch made where the image is": """
        def erase(image):
            where = image.device
            image[:, 0:2] = torch.empty(2, 2, device=where).normal_()
            return image

        for wide in (True, False):
            for x in loader:
                image = x if wide else torch.zeros(2, 4)
                update(erase(image))
    """,
    "a method that only another backend calls": """
        class Trainer:
            def __init__(self, backend):
                self.use_xla = backend == "xla"
                if self.use_xla:
                    import torch_xla.core.xla_model as xm
                self.model = nn.Linear(4, 1).to(device)

            def fit(self):
                for x in loader:
                    self.model(x).sum().backward()
                    self.report(x) if x is None else self.rest(x)
                self.save()

            def save(self):
                if self.use_xla:
                    xm.save(self.model.state_dict(), "model.pt")
                else:
                    self.save_elsewhere()

            def save_elsewhere(self):
                torch.save(self.model.state_dict(), "model.pt")

            def save_as_asked(self):
                torch.save(self.model.state_dict(), "model.pt")  # expect: xla-torch-save
    """,
    "a schedule that converts its metric": """
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        for x in loader:
            loss = update(x)
            schedule.step(loss)  # expect: xla-hidden-read
        for _ in range(90):
            loss = update(torch.ones(2, 4, device=device))
            torch_xla.sync()
            schedule.step(loss)  # expect: xla-late-read
    """,
    "an inner loop that is unrolled into the step": """
        class Agent:
            def __init__(self):
                self.net = nn.Linear(4, 4).to(device)
                self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

            def update(self, x, shift):
                self.optimizer.zero_grad()
                self.net(torch.roll(x, shift, 0)).mean().backward()  # expect: xla-changing-constant
                self.optimizer.step()

        agents = {"a": Agent(), "b": Agent()}
        nets = [nn.Linear(4, 4).to(device) for _ in range(3)]
        optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
        CRITICS = 5
        for number in range(90):
            x = torch.ones(2, 4, device=device)
            for agent in agents.values():
                agent.update(x, number)
            torch_xla.sync()
        for _ in range(90):
            for _ in range(CRITICS):
                update(torch.ones(2, 4, device=device))
            torch_xla.sync()
        for _ in range(90):
            with torch_xla.step():
                for net, stepper in zip(nets, optimizers):
                    for x in (torch.ones(2, 4, device=device), torch.zeros(2, 4, device=device)):
                        stepper.zero_grad()
                        net(x).mean().backward()
                        stepper.step()
        for _ in range(90):  # expect: xla-missing-sync
            for agent in agents.values():
                agent.update(torch.ones(2, 4, device=device), 1)
    """,
    "an inner loop that is the step loop": """
        for _ in range(5):
            for x in [torch.ones(2, 4, device=device)] * 90:  # expect: xla-missing-sync
                update(x)
            torch_xla.sync()
        for _ in range(5):
            for _ in range(90):  # expect: xla-missing-sync
                update(torch.ones(2, 4, device=device))
            torch_xla.sync()
        for _ in range(5):
            for _ in range(4):  # expect: xla-missing-sync
                update(torch.ones(2, 4, device=device))
            for _ in range(90):
                update(torch.ones(2, 4, device=device))
                torch_xla.sync()
            torch_xla.sync()
        for net in [model, nn.Linear(4, 4).to(device)]:
            for x in DataLoader([torch.ones(4)] * 8, batch_size=2, drop_last=True):  # expect: xla-missing-sync
                net(x.to(device)).mean().backward()
            torch_xla.sync()
    """,
    "a loop around loops that cut their own graphs": """
        def power(matrix, turns):
            v = torch.ones(4, device=device)
            for _ in range(turns):
                v = matrix @ v
                torch_xla.sync()
                print(v.norm().item())  # expect: xla-value-read
            return v

        for start in range(4):
            v = power(torch.randn(4, 4, device=device), 40) * start
            torch_xla.sync()
            print(v.sum().item())
        for start in range(4):
            v = model(torch.ones(2, 4, device=device))
            power(torch.randn(4, 4, device=device), 40)
            print(v.sum().item())
        for step in range(900):
            x = model(torch.randn(2, 4, device=device))
            torch_xla.sync()
            if step % 100 == 0:
                power(torch.randn(4, 4, device=device), 40)
            print(x.sum().item())  # expect: xla-value-read
    """,
    "names that are left over from the loop before": """
        for x in loader:
            loss = update(x)
            guess = loss > 0.5
        rows = [torch.ones(2, 4)] * 90
        with torch.no_grad():
            for x in rows:
                x = x.to(device)
                loss = model(x).mean()
                guess = loss > 0.5
                print(guess)  # expect: xla-print-tensor
            for x in rows:  # expect: xla-missing-sync
                if x.shape[0] > 1:
                    loss = loss + model(x.to(device)).mean()
            for x in rows:  # expect: xla-missing-sync
                guess = model(x.to(device)) + loss
                loss = guess.mean()
    """,
    "a sequence that grows in a loop which its reads cut": """
        @torch.no_grad()
        def decode(x, turns):
            for _ in range(turns):  # expect: xla-missing-sync
                new = model(x)
                x = torch.cat([x, new])  # expect: xla-growing-tensor
                if new.sum().item() > 9:  # expect: xla-value-read
                    break
            return x

        @torch.no_grad()
        def decode_seldom(x, turns):
            for number in range(turns):  # expect: xla-missing-sync
                new = model(x)
                x = torch.cat([x, new])
                if number % 50 == 0:
                    print(new.sum().item())  # expect: xla-periodic-read
            return x

        decode(torch.ones(1, 4, device=device), 90)
        decode_seldom(torch.ones(1, 4, device=device), 90)
    """,
    "the last steps of an epoch come after its loop": """
        for epoch in range(9):
            for number, x in enumerate(loader):
                loss = model(x).mean()
                loss.backward()
                if number % 4 == 0:
                    optimizer.step()
            optimizer.step()
            torch_xla.sync()
            print(loss.item())
        for number in range(90):
            for x in [torch.ones(2, 4, device=device)] * 90:  # expect: xla-missing-sync
                loss = model(x).mean()
                loss.backward()
            optimizer.step()
            torch_xla.sync()
            print(loss.item())  # expect: xla-late-read
    """,
    "a generator that cuts its own steps": """
        @torch.no_grad()
        def decode(x):
            tokens = torch.zeros(4, 9, device=device)
            for position in range(9):
                tokens[:, position] = model(x).sum(-1)  # expect: xla-changing-constant
                torch_xla.sync()
                yield tokens

        @torch.no_grad()
        def extend(x):
            while True:
                x = torch.cat([x, model(x)])  # expect: xla-growing-tensor
                torch_xla.sync()
                yield x

        for tokens in decode(torch.ones(4, 4, device=device)):
            print(tokens.shape)
        for tokens in extend(torch.ones(4, 4, device=device)):
            print(tokens.shape)
    """,
    "steps that are listed are periodic": """
        MILESTONES = {2, 5}
        for step, x in enumerate(loader):
            loss = update(x)
            if step in MILESTONES or step in [step for step in range(0, 90, 30)]:
                print(loss)  # expect: xla-periodic-read
            due = step % 10 in (0, 9)
            if due:
                print(loss)  # expect: xla-periodic-read
            if step not in MILESTONES:
                print(loss)  # expect: xla-print-tensor
            if step in range(1, 90):
                print(loss)  # expect: xla-print-tensor
            match step % 4:
                case 0 | 1:
                    print(loss)  # expect: xla-periodic-read
                case _:
                    print(loss)  # expect: xla-print-tensor
    """,
    "micro-steps that the barrier of the step ends": """
        for step in range(90):
            for part in range(4):
                model(torch.ones(2, 4, device=device)).mean().backward()
                if part < 3:
                    torch_xla.sync()
            optimizer.step()
            torch_xla.sync()
        for epoch in range(9):
            for step in range(90):
                update(torch.ones(2, 4, device=device))
                if step % 10 == 0:
                    torch_xla.sync()  # expect: xla-conditional-sync
            torch_xla.sync()
    """,
    "rows of a dataset from the hub": """
        import datasets
        rows = datasets.load_dataset("rows")["train"]
        chosen = rows.select(range(90))
        for batch in MpDeviceLoader(DataLoader(chosen, batch_size=8), device):  # expect: xla-ragged-batch
            update(batch["x"])
        for batch in MpDeviceLoader(
            DataLoader(rows.select(range(64)).filter(print), batch_size=8),  # expect: xla-ragged-batch
            device,
        ):
            update(batch["x"])
    """,
    "a variable of the enclosing function": """
        def train():
            total = 0
            last = None
            def note(loss):
                nonlocal total, last
                total = total + 1
                last = loss
            for x in loader:
                note(update(x))
                print(total)
                print(last)  # expect: xla-print-tensor
        train()
    """,
    "a variable of the enclosing function that only another one sets": """
        def train():
            held = torch.ones(4)
            def move():
                nonlocal held
                held = held.to(device).sum()
            print(held)
            for x in loader:
                update(x)
                move()
                held.item()  # expect: xla-value-read
        train()
    """,
    "the rest of a list": """
        for x in loader:
            loss = update(x)
            first, *rest = [1, loss, loss]
            print(first)
            rest[0].item()  # expect: xla-value-read
            *rest, last = [loss, 2, 3]
            print(last)
            rest[0].item()  # expect: xla-value-read
            first, *rest, last = (1, loss, 3)
            print(first, last)
            for part in rest:
                part.item()  # expect: xla-value-read
    """,
    "lists unpacked into lists, dicts and calls": """
        def show(step, loss, **more):
            print(step)
            loss.item()  # expect: xla-value-read
            more["x"].item()  # expect: xla-value-read
        for x in loader:
            loss = update(x)
            pair = (1, loss)
            show(*pair, **{"x": loss})
            print([*pair, 3][0])
            [*pair, 3][1].item()  # expect: xla-value-read
            {**{"loss": loss}}["loss"].item()  # expect: xla-value-read
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(IMPORTS + textwrap.dedent(code))
