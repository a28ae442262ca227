"""The HTML report in a real browser: what a reader sees, on a wide screen and on a phone, in light and in dark."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.recordings import state
from xla_lint.runtime import report
from xla_lint.runtime.collect import Compile, Line, Process, Recording
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.differences import SHAPE, Difference
from xla_lint.runtime.exchange import BarriersAt, CompiledAt, ReadsAt, Steps
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.places import Frame, Place
from xla_lint.runtime.sites import Comparison
from xla_lint.runtime.summary import summarise

if TYPE_CHECKING:
    from pathlib import Path

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DARK = "--blink-settings=preferredColorScheme=0"
NASTY = "</script><script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">"
PHONE, TABLET, NARROW, WIDE = 390, 768, 1000, 1200

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")


@pytest.fixture
def page() -> str:
    file = f"/home/me/a very long folder name/{NASTY}/train.py"
    sync = Frame(file, 5, NASTY)
    left = state(
        arguments=[NASTY],
        counts=Counts(2, 600, 300, 1.5, 0.5, {NASTY: 2}),
        steps=300,
        reads=[ReadsAt(Place(sync), "value", late=300, seconds=9.0)],
        barriers_at=[BarriersAt(Place(sync), 300, 9.0)],
        compiled=[CompiledAt(1, 0, 1.0, 0.5, 0), CompiledAt(2, 1, 9.0, 4.0, 0)],
        timeline=[Steps(1, step / 10, int(step < 2), 2, 1) for step in range(300)],
        notes=[NASTY],
    )
    change = Difference(SHAPE, NASTY, NASTY, NASTY, NASTY, (Frame(file, 4, NASTY),))
    against = Comparison(1, 40, (change,), other=False, same=False)
    process = Process(left)
    process.lines[Place(sync)] = Line(Place(sync), 2, 600, causes=Counter({NASTY: 600}), barriers=300)
    process.compiles += [
        Compile(1, (sync,), NASTY, "aa", 1, 1, 40),
        Compile(2, (sync, Frame(NASTY, 1, NASTY)), NASTY, "bb", 1, 1, 41, against=against),
    ]
    process.settle()
    summary = summarise(Recording([process]), Linted(), command=NASTY, ended=NASTY, warmup=3)
    row = replace(summary.rows[0], source=f"loss = '{NASTY}'" + "x" * 300, cause=NASTY, rule=NASTY, seen=NASTY)
    return report.html(replace(summary, rows=[row, row], notes=[NASTY]), [NASTY])


def seen(page: str, folder: Path, width: int, what: str, *options: str) -> str:
    """What the JavaScript expression `what` says of the page's `document` and `view` in a frame of that width."""
    framed = folder / "framed.html"
    framed.write_text(
        f'<iframe id="frame" style="border: 0; width: {width}px; height: 800px" srcdoc="{html.escape(page)}"></iframe>'
        '<p id="said"></p><script>window.onload = () => { const view = document.getElementById("frame").contentWindow;'
        f' const say = (document) => {what}; document.getElementById("said").textContent = say(view.document); }};'
        "</script>",
        encoding="utf-8",
    )
    command = [str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [*command, *options, "--window-size=1400,900", "--dump-dom", framed.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    said = re.search(r'<p id="said">([^<]*)</p>', done.stdout)
    assert said is not None, done.stdout
    return said.group(1)


def test_data_stays_data(page: str, tmp_path: Path) -> None:
    tags = "document.title + ' ' + document.querySelectorAll('script, img').length"
    assert seen(page, tmp_path, WIDE, tags) == html.escape(f"xla-lint run: {NASTY} 0", quote=False)


@pytest.mark.parametrize("width", [PHONE, TABLET, NARROW, WIDE])
def test_nothing_is_wider_than_the_screen(width: int, page: str, tmp_path: Path) -> None:
    assert int(seen(page, tmp_path, width, "document.documentElement.scrollWidth")) <= width


def test_a_phone_shows_rows_as_blocks(page: str, tmp_path: Path) -> None:
    shown = "view.getComputedStyle(document.querySelector('td')).display"
    assert seen(page, tmp_path, PHONE, shown) == "block"
    assert seen(page, tmp_path, WIDE, shown) == "table-cell"


@pytest.mark.parametrize("width", [TABLET, NARROW])
def test_no_text_is_squeezed_into_a_narrow_column(width: int, page: str, tmp_path: Path) -> None:
    narrowest = "Math.min(...[...document.querySelectorAll('td.place, td.named, td.rule')].map("
    narrowest += "(cell) => cell.getBoundingClientRect().width))"
    assert float(seen(page, tmp_path, width, narrowest)) >= 120


def test_light_and_dark(page: str, tmp_path: Path) -> None:
    colours = "view.getComputedStyle(document.body).backgroundColor + view.getComputedStyle(document.body).color"
    assert seen(page, tmp_path, WIDE, colours) == "rgb(255, 255, 255)rgb(28, 32, 36)"
    assert seen(page, tmp_path, WIDE, colours, DARK) == "rgb(20, 23, 26)rgb(230, 233, 236)"


def test_the_charts_are_drawn(page: str, tmp_path: Path) -> None:
    bars = "[...document.querySelectorAll('rect')].filter((bar) => bar.getBoundingClientRect().height > 1).length"
    assert int(seen(page, tmp_path, WIDE, bars)) >= 2 + 100 + 100 + 100


def test_a_compilation_is_as_wide_as_it_was_long(page: str, tmp_path: Path) -> None:
    wide = "(() => { const bar = document.querySelectorAll('.tall rect')[1].getBoundingClientRect().width;"
    wide += " return 100 * bar / document.querySelector('.tall').getBoundingClientRect().width; })()"
    assert float(seen(page, tmp_path, PHONE, wide)) == pytest.approx(100 * 4 / 29.9, abs=1)
