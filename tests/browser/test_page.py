"""The page of a report in Chromium: three tasks, speed, keys, golden pictures."""

from __future__ import annotations

import io
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest
from chromium import Chromium, program
from guardtree.reports import Report

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"
TOLERANCE = 0.012  # of the mean difference: what another machine's fonts may take

pytestmark = pytest.mark.skipif(program() is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    made = Chromium(tmp_path_factory.mktemp("chromium"))
    yield made
    made.close()


@pytest.fixture
def sample(browser: Chromium, tmp_path: Path) -> Chromium:
    """The browser, showing the report that lies beside this file."""
    show(browser, Report(json.loads((HERE / "sample.json").read_text())), tmp_path)
    return browser


def show(browser: Chromium, report: Report, folder: Path) -> float:
    """Opens the page; the seconds until it is drawn."""
    report.save(folder / "report.html")
    begin = time.perf_counter()
    browser.open(folder / "report.html")
    seconds = time.perf_counter() - begin
    assert not problems(browser)
    return seconds


def problems(browser: Chromium) -> list[Any]:
    """What scripts raised, what the policy refused, what was asked of a network."""
    bad = ("Runtime.exceptionThrown", "Log.entryAdded")
    found = [each for each in browser.events if each["method"] in bad]
    for each in browser.events:
        if each["method"] == "Network.requestWillBeSent":
            url = each["params"]["request"]["url"]
            found += [] if url.startswith("file:") else [url]
    return found


def text(browser: Chromium, selector: str) -> str:
    return str(
        browser.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")
    )


def lines_in(browser: Chromium, list_: str) -> int:
    return int(browser.evaluate(f"document.querySelectorAll('{list_} .line').length"))


def test_no_click_tells_why_the_call_missed(sample: Chromium) -> None:
    told = text(sample, "#summary .card:nth-child(1)")
    assert "It misses. Entry 1 is nearest: 2 guards do not pass." in told
    assert "config.training is False: found True (bool)" in told
    assert "is_false()" in text(sample, "#details")


def test_no_click_tells_what_entries_differ_in(sample: Chromium) -> None:
    told = text(sample, "#summary .card:nth-child(2)")
    assert "heads: 4, 8, 8, 16" in told and "config.dim: 64, 64, 128, 128" in told


def test_one_click_shows_the_entries_side_by_side(sample: Chromium) -> None:
    sample.click("#tab-entries")
    assert "kernel_8_64" in text(sample, "#entry-table")
    assert "config.dim" in text(sample, "#entry-head")
    assert lines_in(sample, "#entry-table") == 4


def test_no_click_names_the_most_expensive_guard(sample: Chromium) -> None:
    told = text(sample, "#summary .card:nth-child(3)")
    assert "238.2 ns" in told and "config.training is False" in told


def test_one_click_lists_guards_by_cost(sample: Chromium) -> None:
    sample.click("#tab-costs")
    told = re.findall(r"([\d.]+) ns", text(sample, "#cost-list"))
    assert told[0] == "238.2" and len(told) > 10
    assert sorted(map(float, told), reverse=True) == list(map(float, told))


def test_one_click_leads_to_the_guard_that_failed(sample: Chromium) -> None:
    sample.click("#summary .card:nth-child(1) button:nth-of-type(2)")
    assert "mask is None" in text(sample, "#tree .line[aria-selected=true]")


def test_the_search_shows_what_matches_and_the_way_to_it(sample: Chromium) -> None:
    sample.press("/", *"attention.py")
    lines = sample.evaluate(
        "[...document.querySelectorAll('#tree .line')].map(each => each.innerText)"
    )
    assert len(lines) == 2 and "# attention.py:41" in lines[1]
    assert "1 match" in text(sample, "#entry-list")
    sample.press("Escape")
    assert lines_in(sample, "#tree") > 10


def test_the_keyboard_reaches_everything(sample: Chromium) -> None:
    def chosen() -> str:
        return text(sample, "#tree .line[aria-selected=true]")

    sample.evaluate("document.getElementById('tree').focus()")
    sample.press("Home")
    assert "query" in chosen()
    assert "\u25be" in chosen()
    sample.press("ArrowLeft")
    assert "\u25b8" in chosen()
    sample.press("ArrowRight", "ArrowDown", "ArrowDown")
    assert "length" in chosen()
    sample.press("f")
    assert "config.training is False" in chosen()
    for key, view in zip("1234", ("guards", "entries", "costs", "history")):
        sample.press(key)
        assert sample.evaluate(f"document.getElementById('{view}').hidden") is False
    unreachable = sample.evaluate(
        "[...document.querySelectorAll('button:not([role=tab]), input, .list')]"
        ".filter(each => each.tabIndex < 0).length"
    )
    assert unreachable == 0


def test_the_page_is_dark_where_the_system_is_and_where_it_is_told(
    sample: Chromium,
) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = sample.evaluate(ground)
    sample.click("#theme")
    dark = sample.evaluate(ground)
    assert light != dark
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    sample.call("Emulation.setEmulatedMedia", features=features)
    try:
        sample.call("Page.reload")
        sample.evaluate("new Promise(done => setTimeout(done, 200))")
        assert sample.evaluate(ground) == dark
        sample.click("#theme")
        assert sample.evaluate(ground) == light
    finally:
        sample.call("Emulation.setEmulatedMedia", features=[])


def wide() -> gt.Report:
    """64 entries with 100 guards each, and a call."""
    names = [f"a{i}" for i in range(100)]
    scope: dict[str, Any] = {}
    exec(f"def f({', '.join(names)}): ...", scope)
    table = gt.Table(scope["f"])
    for k in range(64):
        guards = gt.GuardManager(scope["f"])
        for i, name in enumerate(names):
            guards.local(name).equals(k if i == 0 else i)
        table.add(guards, k)
    return gt.report(table, {name: i for i, name in enumerate(names)})


def tall(count: int) -> gt.Report:
    """One tree with a guard on each item of a list, of which the last fails."""

    def scope(x: Any) -> None: ...

    guards = gt.GuardManager(scope)
    for i in range(count):
        guards.local("x").list_item(i).type_match(int)
    return gt.report(guards, {"x": [1] * (count - 1) + ["one"]})


@pytest.mark.parametrize("make", [wide, lambda: tall(6_000)], ids=["64x100", "6000"])
def test_large_reports_open_in_a_second(
    browser: Chromium, tmp_path: Path, make: Any
) -> None:
    report = make()
    assert min(show(browser, report, tmp_path) for _ in range(3)) < 1.0


def test_ten_thousand_guards_scroll_smoothly(browser: Chromium, tmp_path: Path) -> None:
    """Few lines exist at a time, and drawing them takes a part of a frame's 16 ms."""
    show(browser, tall(10_000), tmp_path)
    assert "'one' (str)" in text(browser, "#tree .line[aria-selected=true]")
    most, times = browser.evaluate(
        """(async () => {
          const box = document.getElementById("tree");
          const times = [];
          let most = 0;
          for (let k = 0; k < 100; k++) {
            box.scrollTop = (box.scrollHeight - box.clientHeight) * k / 99;
            await new Promise((done) => requestAnimationFrame(done));
            const begin = performance.now();
            await new Promise((done) => requestAnimationFrame(done));
            times.push(performance.now() - begin);
            most = Math.max(most, box.querySelectorAll(".line").length);
          }
          return [most, times];
        })()"""
    )
    assert most < 100
    assert sorted(times)[len(times) // 2] < 34  # two frames at most


def test_a_hostile_repr_runs_nothing(browser: Chromium, tmp_path: Path) -> None:
    text_of_tag = "</script><script>window.ran = 1</script><img src=x onerror=ran=2>"

    class Hostile:
        def __repr__(self) -> str:
            return text_of_tag

    def scope(x: Any) -> None: ...

    guards = gt.GuardManager(scope)
    guards.local("x").equals(text_of_tag).note(Hostile())
    show(browser, gt.report(guards, {"x": Hostile()}), tmp_path)
    for key in "1234":
        browser.press(key)
    assert browser.evaluate("window.ran === undefined") is True
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    browser.press("1")
    assert text_of_tag in text(browser, "#details")
    assert not problems(browser)


def difference(picture: bytes, golden: bytes) -> float:
    """The mean difference of two pictures, from 0 to 1, looked at from a distance."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    from PIL import ImageChops, ImageStat

    small = [
        image.open(io.BytesIO(each)).convert("RGB").resize((160, 108))
        for each in (picture, golden)
    ]
    return sum(ImageStat.Stat(ImageChops.difference(*small)).mean) / 3 / 255


VIEWS = {"report_guards": "1", "report_entries": "2", "report_costs": "3"}


def picture_of(browser: Chromium, view: str) -> bytes:
    browser.press(VIEWS[view])
    return browser.screenshot()


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_looks_as_it_did(sample: Chromium, view: str) -> None:
    """GUARDTREE_TEST_GOLDEN=1 writes the pictures instead: the look is meant."""
    picture = picture_of(sample, view)
    file = GOLDEN / f"{view}.png"
    if os.environ.get("GUARDTREE_TEST_GOLDEN"):
        image = pytest.importorskip("PIL.Image")
        file.write_bytes(picture)
        image.open(file).convert("RGB").quantize(32).save(file, optimize=True)
    assert difference(picture, file.read_bytes()) < TOLERANCE


def test_another_look_is_noticed(sample: Chromium) -> None:
    golden = (GOLDEN / "report_guards.png").read_bytes()
    assert difference(picture_of(sample, "report_entries"), golden) > TOLERANCE
    sample.click("#theme")
    assert difference(picture_of(sample, "report_guards"), golden) > TOLERANCE
