"""Counting, on the real torch_xla. Each test runs in a process that has executed nothing before."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
from pathlib import Path

import pytest

FRESH = multiprocessing.get_context("forkserver")
FRESH.set_forkserver_preload(["torch_xla"])
HEAD = """
import torch, torch_xla
import torch_xla.debug.metrics as met
import torch_xla.core.xla_model as xm
from xla_lint.runtime import *
from xla_lint.runtime import counts
device = torch_xla.device()

def total(*names):
    return sum((met.metric_data(name) or (0,))[0] for name in names)

def step(rows):
    x = torch.ones(rows, 4, device=device)
    y = (x * 2).sum()
    torch_xla.sync()
    return y
"""


def run(script: str) -> str:
    """The standard output of HEAD and `script`; line 1 of `script` is line 20 of `<string>`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        process = FRESH.Process(target=execute, args=(HEAD + script, out))
        process.start()
        process.join()
        text = out.read_text()
    assert process.exitcode == 0, text
    return text


def execute(script: str, out: Path) -> None:
    """Run `script` here, with its output in a file."""
    os.environ["PJRT_DEVICE"] = "CPU"
    with out.open("w") as file:
        os.dup2(file.fileno(), 1)
        try:
            exec(compile(script, "<string>", "exec"), {"__name__": "__main__"})
        except BaseException:
            traceback.print_exc(file=file)
            raise


def test_counts_are_those_of_the_metrics() -> None:
    out = run("""
step(3)
xm.wait_device_ops()
before = total("CompileTime"), total("ExecuteTime"), total("TransferFromDeviceTime")
with CompileCounter() as counter:
    for rows in (3, 4, 4, 5):
        step(rows).item()
    torch.median(torch.rand(5, device=device))
after = total("CompileTime"), total("ExecuteTime"), total("TransferFromDeviceTime")
c = counter.counts
print((c.compiles, c.executions, c.reads) == tuple(b - a for a, b in zip(before, after)))
print(c.compiles, c.reads, c.fallbacks, c.compile_seconds > 0, len(counter.steps))
""")
    first, second = out.splitlines()
    assert first == "True"
    assert second == "3 5 {'aten::median': 1} True 4"


def test_steps_are_those_barriers_that_run_something() -> None:
    out = run("""
step(2)
step(2).item()
with CompileCounter() as counter:
    torch_xla.sync()
    for rows in (3, 4, 4):
        step(rows)
        torch_xla.sync()
print([s.compiles for s in counter.steps], counter.counts.executions)
print(hasattr(xm._run_step_closures, "__wrapped__"))
""")
    assert out.splitlines() == ["[1, 1, 0] 3", "False"]


def test_eager_mode() -> None:
    out = run("""
torch_xla.experimental.eager_mode(True)
with CompileCounter() as counter:
    for _ in range(3):
        (torch.ones(3, device=device) * 2).sum()
c = counter.counts
print(c.compiles == total("EagerOpCompileTime") > 0, c.executions == total("EagerOpExecuteTime") > c.compiles)
""")
    assert out == "True True\n"


def test_dynamo_although_it_clears_the_counters() -> None:
    out = run("""
model = torch.nn.Linear(4, 4).to(device)
f = torch.compile(model, backend="openxla")
torch.median(torch.rand(5, device=device))
torch_xla.sync()
with CompileCounter() as counter:
    before = total("CompileTime"), total("ExecuteTime")
    torch.median(torch.rand(5, device=device))
    with torch.no_grad():
        for rows in (2, 2, 3, 3):
            f(torch.ones(rows, 4, device=device))
xm.wait_device_ops()
c = counter.counts
print(c.compiles == total("CompileTime") - before[0] >= 2, c.executions == total("ExecuteTime") - before[1] >= 4)
print(c.fallbacks["aten::median"])
""")
    assert out.splitlines() == ["True True", "1"]


def test_a_program_that_clears_the_metrics() -> None:
    out = run("""
step(3).item()
with CompileCounter() as counter:
    for rows in (4, 5):
        step(rows).item()
        torch.median(torch.rand(5, device=device))
        xm.wait_device_ops()
        met.clear_all()
    step(6)
c = counter.counts
print(c.compiles, c.executions, c.reads, c.fallbacks, c.compile_seconds > 0)
""")
    assert out == "4 5 4 {'aten::median': 2} True\n"


def test_a_budget_that_is_kept() -> None:
    run("""
with assert_max_compiles(1, after=2):
    for rows in (3, 4, 5, 5):
        step(rows)
""")


def test_a_broken_budget_names_the_lines() -> None:
    out = run("""
try:
    with assert_max_compiles(1, after=1):
        for rows in (3, 4, 5, 6):
            step(rows)
except TooManyCompilesError as error:
    print(error)
""")
    assert out.splitlines() == [
        "3 graphs were compiled after the first 1 steps, 1 allowed:",
        "  <string>:15 in step: barrier (3 times)",
    ]


def test_a_budget_on_a_function_counts_its_calls_together() -> None:
    out = run("""
@assert_max_compiles(1, after=2)
def train(rows):
    step(rows)

for rows in (3, 4, 5, 5, 5):
    train(rows)
try:
    train(6)
except TooManyCompilesError as error:
    print(error)
""")
    assert out.startswith("2 graphs were compiled after the first 2 steps, 1 allowed:\n")


def test_a_read_that_compiles_is_named() -> None:
    out = run("""
try:
    with assert_max_compiles(0):
        float(torch.ones(3, device=device).sum())
except TooManyCompilesError as error:
    print(error)
""")
    assert out.splitlines()[1].endswith(": the value of a pending tensor is needed")


def test_the_barriers_that_compile_are_named_although_something_ran_before() -> None:
    out = run("""
step(2)
try:
    with assert_max_compiles(0, after=1):
        for rows in (3, 4, 5):
            step(rows)
        float(torch.ones(3, device=device).sum())
except TooManyCompilesError as error:
    print(error)
""")
    head, barrier, rest = out.splitlines()
    assert head == "3 graphs were compiled after the first 1 steps, 0 allowed:"
    assert barrier == "  <string>:15 in step: barrier (2 times)"
    assert rest.startswith("  not at a barrier; for the line, set PT_XLA_DEBUG_LEVEL=1")


def test_an_error_inside_is_not_hidden() -> None:
    out = run("""
try:
    with assert_max_compiles(0):
        step(3)
        raise KeyError("mine")
except KeyError as error:
    print(error)
""")
    assert out == "'mine'\n"


def test_the_watcher_logs_one_line_a_recompile() -> None:
    out = run("""
import logging, sys
logging.getLogger("xla_lint.runtime").addHandler(logging.StreamHandler(sys.stdout))
with watch(after=2):
    for rows in (3, 3, 3, 7, 7):
        step(rows)
step(8)
""")
    (line,) = out.splitlines()
    assert line.startswith("recompiled at <string>:15 in step 4: ")


def test_training_that_failed_and_begins_again_is_counted_anew() -> None:
    out = run("""
from xla_lint.runtime.steplog import StepLog
log = StepLog(after=1)
log.begin()
step(3)
log.begin()
step(4)
print(log.end().compiles, log.end(), hasattr(xm._run_step_closures, "__wrapped__"))
""")
    assert out == "1 None False\n"


@pytest.mark.parametrize("arguments", ["-1", "0, after=-1"])
def test_negative_budgets(arguments: str) -> None:
    assert "negative" in run(f"""
try:
    assert_max_compiles({arguments})
except ValueError as error:
    print(error)
""")
