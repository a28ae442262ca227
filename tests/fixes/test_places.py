"""Which statements may change places, and which calls may wait: the order of all that matters stays."""

from __future__ import annotations

import ast

import pytest

from xla_lint.fixes.changes import Change, Defer, Fix, MoveAhead, MoveBehind, Name, Repair, Span
from xla_lint.fixes.edits import plan

CLOSURE = Name("torch_xla.core.xla_model", "add_step_closure", "xm")


def made(text: str, change: Change) -> str:
    result = plan([Repair(Fix("change", safe=True), (change,))], text).text
    ast.parse(result)
    return result


def span(text: str, beginning: str) -> Span:
    """The statement that begins so."""
    lines = text.splitlines()
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return Span.of(next(n for n in nodes if lines[n.lineno - 1][n.col_offset :].startswith(beginning)))


def loop(*body: str) -> str:
    return (
        "".join(f"    {line}\n" for line in ("for x in rows:", *(f"    {line}" for line in body)))
        .replace("    for", "for", 1)
        .replace("\n    ", "\n")
    )


def moved(*body: str, reads: str = "READ", subjects: tuple[str, ...] = ("loss",)) -> list[str]:
    """The body of a step after the statement that begins with `reads` has moved behind `sync()`, where it may."""
    text = loop("loss = model(x).mean()", *body, "sync()")
    change = MoveBehind(span(text, reads), span(text, "sync()"), subjects)
    return [line[4:] for line in made(text, change).splitlines()[2:]]


STEP = ("loss.backward()", "optimizer.step()")


class TestARead:
    def test_moves_behind_the_barrier(self) -> None:
        assert moved("total += loss.item()", *STEP, reads="total") == [*STEP, "sync()", "total += loss.item()"]

    def test_takes_what_follows_from_it_along(self) -> None:
        body = ("v = loss.item()", *STEP, "total += v", "history.append(v)")
        assert moved(*body, reads="v =") == [*STEP, "sync()", "v = loss.item()", "total += v", "history.append(v)"]

    def test_takes_its_comments_along(self) -> None:
        body = ("", "# read", "total += loss.item()  # slow", *STEP)
        assert moved(*body, reads="total") == ["", *STEP, "sync()", "# read", "total += loss.item()  # slow"]

    def test_of_a_test_moves_as_a_whole(self) -> None:
        body = ("if i % 10 == 0:", "    total += loss.item()", *STEP)
        assert moved(*body, reads="total") == [*STEP, "sync()", "if i % 10 == 0:", "    total += loss.item()"]

    def test_passes_what_an_accelerator_or_a_scaler_does_with_the_loss(self) -> None:
        body = ("accelerator.backward(loss)", "scaler.scale(loss).backward()", "scaler.step(optimizer)")
        assert moved("total += loss.item()", *body, reads="total") == [*body, "sync()", "total += loss.item()"]

    @pytest.mark.parametrize(
        "body",
        [
            ("total += loss.item()", "loss = loss / 2"),
            ("total += loss.item()", "loss += penalty(x)"),
            ("total += loss.item()", "loss.div_(2)"),
            ("total += loss.item()", "reduce(loss)"),
            ("total += loss.item()", "log(total)"),
            ("total += loss.item()", "if bad: continue"),
            ("total += loss.item()", "if bad: break"),
            ("total += loss.item()", "yield total"),
            ("self.total += loss.item()", "self.report()"),
            ("total += rate(optimizer) * loss.item()", "optimizer.step()"),
            ("losses.append(loss.item())", "mean = sum(losses)", "use(mean)"),
            ("total += (loss * weights.sum()).item()",),
            ("total += evaluate(model, loss.item())",),
            ("total += loss.item(); i += 1",),
            ("for y in x: total += loss.item()",),
            ("with timer: total += loss.item()",),
            ("try: total += loss.item()", "except ValueError: pass"),
        ],
    )
    def test_stays_where_the_order_matters(self, body: tuple[str, ...]) -> None:
        assert moved(*body, reads=body[0]) == [*body, "sync()"]

    def test_of_something_that_the_step_does_not_compute_stays(self) -> None:
        assert moved("total += scale.item()", *STEP, reads="total", subjects=("scale",)) == [
            "total += scale.item()",
            *STEP,
            "sync()",
        ]

    @pytest.mark.parametrize("value", ["model.weight", "model.weight.detach()", "list(p)[0].t()", "next(parameters)"])
    def test_of_a_parameter_or_a_view_of_one_stays(self, value: str) -> None:
        body = (f"w = {value}", "total += w.item()", *STEP)
        assert moved(*body, reads="total", subjects=("w",)) == [*body, "sync()"]

    @pytest.mark.parametrize("value", ["outputs.loss", "outputs['loss']", "outputs[0].float()", "outputs.loss / 2"])
    def test_of_a_part_of_what_the_model_gives_moves(self, value: str) -> None:
        body = ("outputs = model(x)", f"w = {value}", "total += w.item()", *STEP)
        assert moved(*body, reads="total", subjects=("w",)) == [*body[:2], *STEP, "sync()", "total += w.item()"]

    def test_stays_in_another_block(self) -> None:
        text = "if a:\n    loss = f(x)\n    t = loss.item()\nelse:\n    sync()\n"
        assert made(text, MoveBehind(span(text, "t ="), span(text, "sync()"), ("loss",))) == text

    def test_moves_to_the_end_of_a_text_without_a_last_line_end(self) -> None:
        text = "loss = f(x)\r\nt = loss.item()\r\nsync()"
        change = MoveBehind(span(text, "t ="), span(text, "sync()"), ("loss",))
        assert made(text, change) == "loss = f(x)\r\nsync()\r\nt = loss.item()"


class TestAMoveAhead:
    @pytest.mark.parametrize(
        ("body", "result"),
        [
            (["o = SGD(m.parameters())", "m.to(d)"], ["m.to(d)", "o = SGD(m.parameters())"]),
            (["o = SGD(m.parameters())", "m = m.to(d)"], ["m = m.to(d)", "o = SGD(m.parameters())"]),
            (["o = SGD(m.parameters())", "d = dev()", "m.to(d)"], ["d = dev()", "m.to(d)", "o = SGD(m.parameters())"]),
            (
                ["# o", "o = SGD(m.parameters())", "# m", "m.to(d)"],
                ["# m", "m.to(d)", "# o", "o = SGD(m.parameters())"],
            ),
            (["o = SGD(m.parameters())", "m = Wrapped(m)", "m.to(d)"], None),
            (["o = SGD(m.parameters())", "if tpu: d = dev()", "m.to(d)"], None),
            (["o, d = SGD(m.parameters()), dev()", "m.to(d)"], None),
        ],
    )
    def test_takes_what_it_needs_along(self, body: list[str], result: list[str] | None) -> None:
        text = "\n".join(["first()", *body, ""])
        change = MoveAhead(len(body) + 1, span(text, "o"))
        assert made(text, change).splitlines()[1:] == (result or body)

    def test_stays_in_another_block(self) -> None:
        text = "def f():\n    o = SGD(m.parameters())\n\n\nm.to(d)\n"
        assert made(text, MoveAhead(5, span(text, "o ="))) == text


def deferred(call: str, *after: str) -> str:
    """A call in a step after it was handed to a closure, where it may wait."""
    head = "import logging\nimport torch_xla.core.xla_model as xm\nlog = logging.getLogger()\n"
    text = head + loop(f"{call}", *after, "sync()")
    change = Defer(span(text, call), span(text, "sync()"), CLOSURE)
    return made(text, change).splitlines()[4].strip()


class TestACall:
    @pytest.mark.parametrize(
        ("call", "result"),
        [
            ("print(x)", "print, args=(x,)"),
            ("print('x', x)", "print, args=('x', x)"),
            ("print(x.item())", "lambda x: print(x.item()), args=(x,)"),
            ("print(f'{x:.3f} {len(rows)}')", "lambda x, rows: print(f'{x:.3f} {len(rows)}'), args=(x, rows)"),
            ("print(o.loss, x)", "lambda loss, x: print(loss, x), args=(o.loss, x)"),
            ("print(o.loss, loss)", "lambda loss_, loss: print(loss_, loss), args=(o.loss, loss)"),
            ("print(o['loss'], p[0]['lr'])", "lambda loss, lr: print(loss, lr), args=(o['loss'], p[0]['lr'])"),
            ("print(x, sep=':', flush=True)", "lambda x: print(x, sep=':', flush=True), args=(x,)"),
            ("print(x, file=logging.out)", "lambda x: print(x, file=logging.out), args=(x,)"),
            ("log.info('%s', x)", "log.info, args=('%s', x)"),
            ("log.info('a %s' % x)", "lambda x: log.info('a %s' % x), args=(x,)"),
        ],
    )
    def test_waits_with_what_it_needs(self, call: str, result: str) -> None:
        assert deferred(call).startswith(f"xm.add_step_closure({result}")

    @pytest.mark.parametrize(
        "call",
        [
            "print(*x)",
            "print(x, **k)",
            "print(time())",
            "print(x.mean())",
            "print([y for y in x])",
            "print(y := x)",
            "print(lambda: x)",
            "print(f'{o.loss=}')",
            "print(f(x)[0])",
            "x.info(1)",
        ],
    )
    def test_does_not_wait_where_something_may_become_another(self, call: str) -> None:
        assert deferred(call) == call

    def test_keeps_its_lines(self) -> None:
        text = f"import {CLOSURE.module} as xm\n" + loop("print(", "    step + 1,  # from one", "    x,", ")", "sync()")
        result = made(text, Defer(span(text, "print"), span(text, "sync"), CLOSURE))
        assert "(lambda step, x: print(\n        step + 1,  # from one\n        x,\n    ), args=(step, x))\n" in result

    @pytest.mark.parametrize("after", ["if x: break", "if x: continue", "return", "raise ValueError"])
    def test_does_not_wait_for_what_may_not_come(self, after: str) -> None:
        assert deferred("print(x)", after) == "print(x)"

    def test_waits_for_the_next_turn_of_a_loop_that_is_not_left(self) -> None:
        text = f"import {CLOSURE.module} as xm\n" + loop("print(x)")
        assert made(text, Defer(span(text, "print"), None, CLOSURE)).endswith("xm.add_step_closure(print, args=(x,))\n")
        text = f"import {CLOSURE.module} as xm\n" + loop("print(x)", "if x: break")
        assert made(text, Defer(span(text, "print"), None, CLOSURE)) == text
