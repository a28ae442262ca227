"""What becomes of torch_xla: every public name has an answer for each successor, in the words of its table."""

from __future__ import annotations

import pytest

from xla_lint.knowledge import api
from xla_lint.knowledge.successors import BACKENDS, Group, Kind, successor, text_successor

XM = "torch_xla.core.xla_model."
EVERY_BACKEND = pytest.mark.parametrize("backend", BACKENDS)


@EVERY_BACKEND
def test_every_public_name_is_answered(backend: str) -> None:
    members = [name for name, known in api.names().items() if not known.is_module]
    assert [name for name in members if successor(name, backend) is None] == []


@EVERY_BACKEND
def test_an_answer_says_what_to_do(backend: str) -> None:
    found = [successor(name, backend) for name in api.names()]
    assert all(answer.advice for answer in found if answer is not None)


def test_an_answer_is_in_the_spelling_of_its_backend() -> None:
    spelled = [successor("torch_xla.device", backend) for backend in BACKENDS]
    assert [answer.becomes for answer in spelled if answer] == ['torch.device("tpu")', 'torch.device("neuron")']
    groups = [text_successor(Kind.PROCESS_GROUP, "xla", backend) for backend in BACKENDS]
    assert [answer.becomes for answer in groups if answer] == ['"tpu_dist"', '"neuron"']


def test_what_differs_between_backends_is_told_for_each() -> None:
    tpu, neuron = (successor("torch_xla.compile", backend) for backend in BACKENDS)
    assert tpu is not None
    assert neuron is not None
    assert tpu.becomes == 'torch.compile(f, backend="tpu", dynamic=False)'
    assert neuron.becomes == 'torch.compile(f, backend="neuron")'


def test_a_barrier_goes_away() -> None:
    answer = successor(XM + "mark_step", "torch_neuron")
    assert answer is not None
    assert (answer.group, answer.becomes) == (Group.GONE, None)
    assert answer.advice.startswith("drop it (operations start where")


def test_the_longest_row_counts() -> None:
    scaler = successor("torch_xla.amp.grad_scaler.GradScaler", "torch_tpu")
    assert scaler is not None
    assert scaler.group is Group.GONE


def test_what_the_table_does_not_list_needs_thought() -> None:
    answer = successor(XM + "something_new", "torch_tpu")
    assert answer is not None
    assert (answer.group, answer.becomes) == (Group.THOUGHT, None)


def test_a_module_and_another_package_have_no_answer() -> None:
    assert successor("torch_xla", "torch_tpu") is None
    assert successor("torch_xla.core.xla_model", "torch_tpu") is None
    assert successor("torch.save", "torch_tpu") is None


def test_a_device_may_have_an_index_and_other_texts_stay() -> None:
    assert text_successor(Kind.DEVICE, "xla:1", "torch_tpu") is not None
    assert text_successor(Kind.DEVICE, "cuda", "torch_tpu") is None
    assert text_successor(Kind.COMPILER, "inductor", "torch_tpu") is None
