"""Classes that derive from containers keep what they hold: each line says what is to be found on it."""

from __future__ import annotations

import textwrap

import pytest

from tests.library.cases import verify

IMPORTS = """\
import collections
from collections import OrderedDict, UserDict, UserList
from dataclasses import dataclass
"""
CASES = {
    "a dict by another name": """
        class Outputs(dict):
            pass

        class Scores(UserDict):
            def total(self):
                return self.data["loss"] + 1

        for x in loader:
            out = Outputs(loss=update(x))
            print(out["loss"].item())  # expect: xla-value-read
            print(dict(out)["loss"].item())  # expect: xla-value-read
            scores = Scores()
            scores["loss"] = out["loss"]
            print(scores.total().item())  # expect: xla-value-read
            scores.update(count=1)
            print(scores["count"])
    """,
    "a dict whose items are attributes": """
        class Own(dict):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                self.__dict__ = self

        class Borrowed(dict):
            __getattr__ = dict.get
            __setattr__ = dict.__setitem__

        class Written(dict):
            def __getattr__(self, name):
                try:
                    return self[name]
                except KeyError as error:
                    raise AttributeError(name) from error

            def __setattr__(self, name, value):
                self[name] = value

        for x in loader:
            own, borrowed, written = Own(loss=update(x)), Borrowed(), Written()
            print(own.loss.item())  # expect: xla-value-read
            borrowed.loss = own.loss
            print(borrowed["loss"].item())  # expect: xla-value-read
            written.loss = own.loss
            for name, value in written.items():
                print(name, value.item())  # expect: xla-value-read
            print(len(own), borrowed.get("missing"), written.keys())
    """,
    "the outputs of a model as an ordered dict with fields": """
        class ModelOutput(OrderedDict):
            def __post_init__(self):
                for name in ("loss", "logits"):
                    self[name] = getattr(self, name)

            def __getitem__(self, key):
                if isinstance(key, str):
                    return dict(self.items())[key]
                return self.to_tuple()[key]

        @dataclass
        class Classified(ModelOutput):
            loss: object = None
            logits: object = None

        for x in loader:
            out = Classified(loss=update(x), logits=x)
            print(out.loss.item())  # expect: xla-value-read
            print(out["loss"].item())  # expect: xla-value-read
    """,
    "a list by another name": """
        class History(list):
            def __init__(self, title):
                super().__init__()
                self.title = title

            def append(self, value):
                super().append(value)

            def last(self):
                return self[-1]

        class Wrapped(UserList):
            pass

        history, wrapped = History("loss"), Wrapped()
        for x in loader:
            history.append(update(x))
            print(history.title, history.last().item())  # expect: xla-value-read
            wrapped.append(update(x))
            print([float(value) for value in wrapped])  # expect: xla-value-read
    """,
    "methods of a container are not attributes that are asked for": """
        class Lazy(dict):
            def __getattr__(self, name):
                return update(self["x"])

        for x in loader:
            lazy = Lazy(x=x)
            print(lazy.copy, lazy.loss.item())  # expect: xla-value-read
            print(list(lazy.keys()))
    """,
    "an attribute that another object has": """
        class Proxy:
            def __init__(self, inner):
                self.inner = inner

            def __getattr__(self, name):
                return getattr(self.inner, name)

        class Result:
            def __init__(self, loss):
                self.loss = loss

        class Wrapper(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def __getattr__(self, name):
                try:
                    return super().__getattr__(name)
                except AttributeError:
                    return getattr(self.inner, name)

            def forward(self, x):
                return self.inner(x)

        wrapper = Wrapper(model).to(device)
        own = torch.optim.SGD(wrapper.parameters(), lr=0.1)
        for x in loader:
            print(Proxy(Result(update(x))).loss.item())  # expect: xla-value-read
            print(wrapper(x).mean().item())  # expect: xla-value-read
    """,
    "a function that goes into containers by itself": """
        def plain(value):
            if isinstance(value, torch.Tensor):
                return value.tolist()  # expect: xla-value-read
            if isinstance(value, dict):
                return {key: plain(item) for key, item in value.items()}
            if isinstance(value, (list, tuple)):
                return [plain(item) for item in value]
            return value

        for x in loader:
            print(plain({"train": {"losses": [update(x)]}}))
    """,
    "a function that comes back to where it began": """
        def ring(value):
            return ring([value])

        for x in loader:
            print(ring(update(x)))
    """,
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_container_holds(name: str) -> None:
    verify(IMPORTS + textwrap.dedent(CASES[name]))
