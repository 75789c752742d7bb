"""Reports: the data of functions, tables, guarded functions and trees; the page."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest
from guardtree.__main__ import main


def kernel(x: Any, size: int = 0) -> None: ...


class Shape:
    def __init__(self, rows: int) -> None:
        self.rows = rows


def guards_of(size: int, scope: Any = kernel) -> gt.GuardManager:
    guards = gt.GuardManager(scope)
    rows = guards.local("x").type_match(Shape).attr("rows")
    rows.equals(3).note("kernel.py:7")
    guards.local("size").equals(size)
    return guards


def table() -> gt.Table:
    made = gt.Table(kernel)
    for size in (8, 16):
        made.add(guards_of(size), f"kernel for {size}")
    return made


def states(entry: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["python"], row["state"]) for row in entry["rows"]]


def test_a_row_says_whether_its_guard_passes_and_what_was_found() -> None:
    told = gt.report(table(), {"x": Shape(4), "size": 16}).to_dict()
    first, second = told["entries"]
    assert (first["verdict"], first["hits"]) == ("fail", 0)
    assert states(second) == [
        ("x", "pass"),
        (f"type(x) is {__name__}.Shape", "pass"),
        ("x.rows", "pass"),
        ("same_constant(x.rows, 3)", "fail"),
        ("size", "pass"),
        ("same_constant(size, 16)", "pass"),
    ]
    failed = second["rows"][3]
    assert failed["found"] == "4 (int)" and failed["expected"] == "equals(3)"
    assert (failed["note"], failed["depth"]) == ("kernel.py:7", 2)
    assert second["runs"] == "'kernel for 16' (str)"
    assert told["subject"]["size"] == "16 (int)"
    assert told["summary"]["nearest"] == 1
    assert told["differences"] == [{"fact": "size", "demands": ["8", "16"]}]


def test_what_a_failed_step_leads_to_is_not_reached() -> None:
    (entry,) = gt.report(guards_of(8), {"x": 3, "size": 8}).to_dict()["entries"]
    assert dict(states(entry)) == {
        "x": "pass",
        f"type(x) is {__name__}.Shape": "fail",
        "x.rows": "fail",
        "same_constant(x.rows, 3)": "unreached",
        "size": "pass",
        "same_constant(size, 8)": "pass",
    }


def test_an_exception_in_a_guard_is_an_error_of_its_row() -> None:
    guards = gt.GuardManager(kernel)
    guards.local("x").python(lambda x: 1 // x)
    told = gt.report(guards, {"x": 0}).to_dict()
    (step, check) = told["entries"][0]["rows"]
    assert (check["state"], told["entries"][0]["verdict"]) == ("error", "error")
    assert check["error"].startswith("ZeroDivisionError")


def test_a_relation_has_a_row() -> None:
    guards = gt.GuardManager(kernel)
    guards.distinct_objects(guards.local("x"), guards.local("size"))
    told = gt.report(guards, {"x": 3, "size": 3}).to_dict()
    assert told["entries"][0]["rows"][-1]["kind"] == "distinct_objects"
    assert told["entries"][0]["rows"][-1]["state"] == "fail"


def test_guards_run_as_often_as_they_are_told_to() -> None:
    asked: list[int] = []
    guards = gt.GuardManager(kernel)
    guards.local("x").python(lambda x: asked.append(x) is None and sum(range(9999)))
    guards.local("size").equals(8)
    told = gt.report(guards, {"x": 3, "size": 8}, repeat=4).to_dict()
    assert len(asked) == 5  # once to explain
    assert [row.get("runs") for row in told["entries"][0]["rows"]] == [None, 4, None, 4]
    entry, row = told["summary"]["most_expensive"]
    assert told["entries"][entry]["rows"][row]["kind"] == "python"
    once = gt.report(guards, {"x": 3, "size": 8}, repeat=0).to_dict()
    assert len(asked) == 6 and "most_expensive" not in once["summary"]


def test_without_a_call_nothing_runs() -> None:
    guards = gt.GuardManager(kernel)
    guards.local("x").python(lambda x: 1 // 0)
    told = gt.report(guards).to_dict()
    assert told["subject"] is None and told["summary"] == {}
    assert all("state" not in row for row in told["entries"][0]["rows"])


def test_a_guarded_function_is_reported_by_itself_and_by_its_function() -> None:
    def scale(x: Any, size: int = 0) -> int:
        return size

    guarded = gt.guard_function(scale)
    for size in (8, 16):
        guarded.add(guards_of(size, scale), lambda x, size=0: size)
    assert scale(Shape(3), 16) == 16
    told = gt.report(scale, {"x": Shape(3), "size": 16}).to_dict()
    assert told["name"].endswith("scale")
    assert [each["hits"] for each in told["entries"]] == [0, 1]
    assert [each["verdict"] for each in told["entries"]] == ["fail", "pass"]
    assert told["differences"][0]["fact"] == "size" and told["stats"]["hits"] == 1
    assert len(gt.report(guarded).to_dict()["entries"]) == 2
    guarded.restore()
    gt.set_eval_frame(None)


def sized(call: gt.MissedCall) -> Any:
    """Compiles once per size."""
    call.guards.local("size").equals(call.arguments["size"])
    return lambda x, size=0: size


def test_a_dispatcher_is_reported_also_as_a_method() -> None:
    class Owner:
        run = gt.Dispatcher(kernel, sized)

    (Owner.run(1, 8), Owner.run(1, 16), Owner.run(2, 8))
    for target in (Owner.run, Owner().run):
        told = gt.report(target, {"x": 1, "size": 9}).to_dict()
        assert told["name"] == "kernel"
        assert [each["hits"] for each in told["entries"]] == [1, 0]
        assert [each["verdict"] for each in told["entries"]] == ["fail", "fail"]
        assert told["differences"] == [{"fact": "size", "demands": ["8", "16"]}]
        assert told["stats"]["compiled"] == 2


def test_a_function_that_a_decorator_with_on_miss_guards_is_reported() -> None:
    """On CPython 3.11 a Dispatcher, on others the function."""

    @gt.guard_function(on_miss=sized)
    def run(x: Any, size: int) -> Any:
        return size

    assert run(1, 8) == 8
    for target in (run, gt.guard_function(run)):
        (entry,) = gt.report(target, {"x": 1, "size": 8}).to_dict()["entries"]
        assert entry["verdict"] == "pass"


def test_the_cache_of_the_hook_and_its_history(only: Any) -> None:
    def shifted(x: Any, size: int = 0) -> None: ...

    def answer(frame: Any, entry: Any, state: Any) -> Any:
        guards = gt.GuardManager(frame)
        guards.local("size").equals(frame.f_locals["size"])
        return gt.GuardedCode(shifted.__code__, guards)

    with gt.record_history() as history:
        gt.set_policy(kernel, entry_limit=2)
        with gt.optimize(only(kernel, answer)):
            for size in (1, 2, 2, 3):
                kernel(None, size)
    told = gt.report(kernel, {"x": None, "size": 3}, history=history).to_dict()
    assert [each["what"] for each in told["history"]] == [
        "entry", "miss", "entry", "miss", "removed", "entry",
    ]  # fmt: skip
    assert "size: expected equals(" in told["history"][3]["text"]
    assert len(told["removed"]) == 1 and told["stats"]["evicted"] == 1
    assert told["policy"]["entry_limit"] == 2
    kernel(None, 7)
    assert len(history.events) == 6  # it is closed
    gt.reset_code(kernel)


def test_logs_and_recordings_hear_of_misses_at_once(only: Any, caplog: Any) -> None:
    def answer(frame: Any, entry: Any, state: Any) -> Any:
        guards = gt.GuardManager(frame)
        guards.local("x").equals(frame.f_locals["x"])
        return gt.GuardedCode(kernel.__code__, guards)

    gt.set_logs("guards", "misses")
    try:
        with gt.record_history() as history, gt.optimize(only(kernel, answer)):
            kernel(None)
            kernel(1)
        with gt.optimize(only(kernel, answer)):
            kernel(2)
    finally:
        gt.set_logs()
    told = [each.name.removeprefix("guardtree.") for each in caplog.records]
    assert told == ["guards", "misses", "guards", "misses", "guards"]
    assert [each.what for each in history.events] == ["entry", "miss", "entry"]


def test_an_entry_whose_guard_is_a_callable_has_one_row(only: Any) -> None:
    def answer(frame: Any, entry: Any, state: Any) -> Any:
        return gt.GuardedCode(kernel.__code__, lambda f_locals: f_locals["x"] is None)

    with gt.optimize(only(kernel, answer)):
        kernel(None)
    told = gt.report(kernel, {"x": 3, "size": 0}).to_dict()
    (row,) = told["entries"][0]["rows"]
    assert (row["state"], told["entries"][0]["verdict"]) == ("fail", "fail")


class Hostile:
    """Its repr tries to end the element it is written into, and to run a script."""

    TEXT = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\u2028]]>"

    def __repr__(self) -> str:
        return self.TEXT


def hostile_report() -> gt.Report:
    guards = gt.GuardManager(kernel)
    guards.local("x").equals(Hostile.TEXT).note(Hostile())
    return gt.report(guards, {"x": Hostile(), "size": "<b>&amp;</b>"})


def test_no_text_of_a_value_becomes_markup() -> None:
    page = hostile_report().to_html()
    assert "<img" not in page and "<b>" not in page and "alert(1)</script" not in page
    (data,) = re.findall(r'application/json" id="data">(.*?)</script>', page)
    assert Hostile.TEXT in json.loads(data)["entries"][0]["rows"][1]["found"]
    assert page.isascii()


def test_the_policy_of_the_page_allows_its_own_script_alone() -> None:
    page = hostile_report().to_html()
    policy = html.unescape(re.findall(r'Policy" content="([^"]*)"', page)[0])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy and "http" not in policy


def test_the_page_names_no_other_file() -> None:
    page = hostile_report().to_html()
    markup = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.S)
    assert not re.search(r"\b(src|href)=|https?:", markup)


def test_notebooks_get_the_page_in_a_frame_of_its_own() -> None:
    shown = hostile_report()._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"')
    (inner,) = re.findall(r'srcdoc="([^"]*)"', shown)
    assert html.unescape(inner) == hostile_report().to_html() or "<" not in inner


class Raises:
    def __repr__(self) -> str:
        raise ValueError("no repr")


def test_a_repr_that_raises_costs_no_report() -> None:
    guards = gt.GuardManager(kernel)
    guards.local("x").is_none().note(Raises())
    told = gt.report(guards, {"x": Raises(), "size": 0}).to_dict()
    assert "Raises" in told["subject"]["x"]
    assert "Raises" in told["entries"][0]["rows"][1]["note"]


def test_large_constants_are_cut() -> None:
    guards = gt.GuardManager(kernel)
    guards.local("x").equals(tuple(range(10_000)))
    assert len(gt.report(guards, {"x": ()}).to_json()) < 20_000


def test_a_target_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a function.*found 3 \(int\)"):
        gt.report(3)  # type: ignore[arg-type]


def test_view_writes_the_page_of_a_saved_report(tmp_path: Path, capsys: Any) -> None:
    made = gt.report(table(), {"x": Shape(4), "size": 16})
    made.save(tmp_path / "report.json")
    made.save(tmp_path / "saved.html")
    assert main(["view", str(tmp_path / "report.json"), "--no-browser"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text()
    assert written == made.to_html() == (tmp_path / "saved.html").read_text()


def test_view_shows_a_saved_explanation(tmp_path: Path, only: Any) -> None:
    def answer(frame: Any, entry: Any, state: Any) -> Any:
        return gt.GuardedCode(kernel.__code__, guards_of(8, frame))

    with gt.optimize(only(kernel, answer)):
        kernel(None)
    file = tmp_path / "explained.json"
    file.write_text(gt.explain(kernel, {"x": Shape(4), "size": 9}).to_json())
    page = tmp_path / "page.html"
    assert main(["view", str(file), "--output", str(page), "--no-browser"]) == 0
    assert "found" in page.read_text() and "4 (int)" in page.read_text()


WRONG = ["{", "3", '{"entries": 3}', '{"format": "other"}']
WRONG += ['{"format": "guardtree report 1"}']
WRONG += [json.dumps({**gt.report(gt.GuardManager(kernel)).to_dict(), "entries": [3]})]


@pytest.mark.parametrize("text", WRONG)
def test_view_refuses_other_files(tmp_path: Path, capsys: Any, text: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(text)
    assert main(["view", str(file), "--no-browser"]) == 2
    assert "other.json" in capsys.readouterr().err
    assert not file.with_suffix(".html").exists()


@pytest.mark.parametrize("command", ["demo", "bench", "features", "view"])
def test_each_command_says_what_it_does(command: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    described = text.split("\n\n", 1)[1]
    assert len(described.split()) > 20
    with pytest.raises(SystemExit):
        main(["--help"])
    assert command in capsys.readouterr().out
