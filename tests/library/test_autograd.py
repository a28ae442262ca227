"""What runs with the backward pass."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "functions with a backward pass of their own": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                context.save_for_backward(x)
                context.mark_non_differentiable(x)
                return x * 2, x
            @staticmethod
            def backward(context, gradient, other):
                (x,) = context.saved_tensors
                probe.value(x)  # is: device tensor of 3
                probe.value(gradient)  # is: device tensor
                return gradient * 2
        first, second = Double.apply(t)
        probe.value(first)  # is: device tensor of 3
        first.sum().backward()
        probe.value(Double.other(t))  # is: unknown
    """,
    "with a context that is set up apart": """
        class Half(torch.autograd.Function):
            @staticmethod
            def forward(x):
                return x / 2
            @staticmethod
            def setup_context(context, inputs, output):
                probe.value(inputs)  # is: (device tensor of 3)
                probe.value(output)  # is: device tensor of 3
            @staticmethod
            def backward(context, gradient):
                return gradient
        with torch.no_grad():
            probe.value(Half.apply(t))  # is: device tensor of 3
    """,
    "hooks of tensors": """
        def show(gradient):
            print(gradient.norm())  # expect: xla-print-tensor
        weight = nn.Parameter(torch.ones(4, device=device))
        weight.register_hook(show)
        h.register_hook(show)
        for x in loader:
            (model(x).mean() * weight.sum()).backward()
            optimizer.step()
            optimizer.zero_grad()
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
