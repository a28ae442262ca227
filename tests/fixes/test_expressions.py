"""How calls get arguments, expressions something behind them, and masks an operation, in programs of any layout."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from xla_lint.fixes.changes import Append, Change, ChangeCall, Drop, Fill, Fix, Give, Name, PassTo, Repair, Span
from xla_lint.fixes.edits import plan

WHERE = Name("torch", "where")


def changed(text: str, expression: str, change: Callable[[Span], Change]) -> str:
    """A text after the change of the node that is written so."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.expr, ast.stmt))]
    (node,) = (node for node in nodes if ast.unparse(node) == expression)
    result = plan([Repair(Fix("change", safe=True), (change(Span.of(node)),))], text).text
    ast.parse(result)
    return result


def given(call: str) -> str:
    return changed(
        f"{call}\n", ast.unparse(ast.parse(call)), lambda at: ChangeCall(at, (Give("drop_last", "True", 8),))
    )[:-1]


@pytest.fixture(autouse=True)
def _one_node_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that is an expression stands for it."""
    walk = ast.walk
    monkeypatch.setattr(ast, "walk", lambda tree: (node for node in walk(tree) if not isinstance(node, ast.Expr)))


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("L()", "L(drop_last=True)"),
        ("L( )", "L( drop_last=True)"),
        ("L(rows)", "L(rows, drop_last=True)"),
        ("L(rows,)", "L(rows, drop_last=True,)"),
        ("L(rows , )", "L(rows, drop_last=True, )"),
        ("L(rows, drop_last=False)", "L(rows, drop_last=True)"),
        ("L(a, b, c, d, e, f, g, h, False)", "L(a, b, c, d, e, f, g, h, True)"),
        ("L(\n    rows,\n    8,  # rows a batch\n)", "L(\n    rows,\n    8,  # rows a batch\n    drop_last=True,\n)"),
        ("L(\n    rows,\n    8  # rows a batch\n)", "L(\n    rows,\n    8,  # rows a batch\n    drop_last=True\n)"),
        ("L(\n\trows,\n\t8,\n)", "L(\n\trows,\n\t8,\n\tdrop_last=True,\n)"),
        ("L(\n  rows, 8\n)", "L(\n  rows, 8, drop_last=True\n)"),
        ("L(rows,\n  8)", "L(rows,\n  8, drop_last=True)"),
        ("L(made(\n    rows,\n))", "L(made(\n    rows,\n), drop_last=True)"),
        ("L((x for x in rows))", "L((x for x in rows), drop_last=True)"),
        ("L('ä', (rows))", "L('ä', (rows), drop_last=True)"),
    ],
)
def test_a_call_gets_an_argument(call: str, result: str) -> None:
    assert given(call) == result


def test_a_call_inside_an_expression_gets_an_argument() -> None:
    text = changed("M.L(rows).go", "M.L(rows)", lambda at: ChangeCall(at, (Give("drop_last", "True", 8),)))
    assert text == "M.L(rows, drop_last=True).go"


def test_a_generator_without_brackets_stays_alone() -> None:
    call = "L(x for x in rows)"
    assert changed(call, "L((x for x in rows))", lambda at: ChangeCall(at, (Give("drop_last", "True"),))) == call


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("f(fused=True)", "f()"),
        ("f(p, fused=True)", "f(p)"),
        ("f(p, fused=True, lr=1)", "f(p, lr=1)"),
        ("f(fused=True, lr=1)", "f(lr=1)"),
        ("f(p, lr=1)", "f(p, lr=1)"),
        ("f(\n    p,\n    fused=True,  # quick\n    lr=1,\n)", "f(\n    p,\n    lr=1,\n)"),
        ("f(\n    p,  # all\n    fused=True,\n)", "f(\n    p,  # all\n)"),
        ("f(p,  # all\n  fused=True)", "f(p,  # all\n  )"),
    ],
)
def test_a_call_loses_an_argument(call: str, result: str) -> None:
    assert changed(call, ast.unparse(ast.parse(call)), lambda at: ChangeCall(at, (Drop("fused"),))) == result


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("loss", "loss.detach()"),
        ("out.loss", "out.loss.detach()"),
        ("losses[0]", "losses[0].detach()"),
        ("f(x)", "f(x).detach()"),
        ("2 * loss", "(2 * loss).detach()"),
        ("-loss", "(-loss).detach()"),
        ("(a + b)", "(a + b).detach()"),
        ("( a\n  + b )  # both", "( a\n  + b ).detach()  # both"),
        ("a if b else c", "(a if b else c).detach()"),
    ],
)
def test_something_is_written_behind_an_expression(value: str, result: str) -> None:
    text = f"total += {value}\n"
    expression = ast.unparse(ast.parse(text).body[0].value)  # type: ignore[attr-defined]
    assert changed(text, expression, lambda at: Append(at, ".detach()")) == f"total += {result}\n"


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("loss.backward()", "acc.backward(loss)"),
        ("loss.backward(retain_graph=True)", "acc.backward(loss, retain_graph=True)"),
        ("(a + b).backward()", "acc.backward(a + b)"),
        ("out['loss'].mean().backward()", "acc.backward(out['loss'].mean())"),
        ("(loss\n    .backward)(\n    retain_graph=True,\n)", "acc.backward(loss, \n    retain_graph=True,\n)"),
        ("sum(a for a in b).backward()", "acc.backward(sum(a for a in b))"),
    ],
)
def test_a_function_takes_the_object(call: str, result: str) -> None:
    assert changed(call, ast.unparse(ast.parse(call)), lambda at: PassTo(at, "acc.backward")) == result


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("x[m] = 0.0", "x.masked_fill_(m, 0.0)"),
        ("self.x[x < 0] = -1  # none", "self.x.masked_fill_(x < 0, -1)  # none"),
        ("b['x'][~m] = float('-inf')", "b['x'].masked_fill_(~m, float('-inf'))"),
        ("x[m] = -math.inf", "x.masked_fill_(m, -math.inf)"),
        ("x[m] = torch.finfo(x.dtype).min", "x.masked_fill_(m, torch.finfo(x.dtype).min)"),
        ("x[m] = True", "x.masked_fill_(m, True)"),
        ("x[m] = y[m]", "x.copy_(torch.where(m, y, x))"),
        ("x[m] = y[n]", "x[m] = y[n]"),
        ("x[m] = y", "x[m] = y"),
        ("x[m, 0] = 1", "x[m, 0] = 1"),
        ("x[m] = z = 1", "x[m] = z = 1"),
        ("f(x)[m] = y[m]", "f(x)[m] = y[m]"),
    ],
)
def test_an_assignment_through_a_mask_becomes_an_operation(statement: str, result: str) -> None:
    text = f"import torch\n{statement}\n"
    expression = ast.unparse(ast.parse(statement))
    assert changed(text, expression, lambda at: Fill(at, WHERE)) == f"import torch\n{result}\n"
