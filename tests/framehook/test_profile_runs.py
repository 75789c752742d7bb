"""A whole body under a profile function: hits leave its events as they are.

CPython reports the callback to a profile function as it reports any Python function. So
a body shows more events for as long as it still meets code that has no entry: in its
first run, and in later ones where an exception ended the first. These are all the
events that the hook adds.
"""

from __future__ import annotations

import gc
import sys

import guardtree as gt
import pytest


class Largest:
    """Methods whose function is written in C: CPython reports them as C calls."""

    largest = classmethod(max)


def by_keyword() -> None:
    Largest().largest(1, key=lambda x: 0)


def by_unpacking() -> None:
    values = (1,)
    Largest().largest(*values, key=lambda x: 0)


def without_arguments() -> None:
    type("Shown", (), {"text": classmethod(repr)})().text()


BODIES = pytest.mark.parametrize("body", [by_keyword, by_unpacking, without_arguments])


def events_of(body) -> list[tuple[str, str]]:
    events = []

    def profiler(frame, event, argument):
        events.append((event, frame.f_code.co_name))

    gc.disable()  # Hypothesis has a callback for collections
    sys.setprofile(profiler)
    body()
    sys.setprofile(None)
    gc.enable()
    return events


def guard_everything(frame, entry, state) -> gt.GuardedCode:
    return gt.GuardedCode(frame.f_code, gt.GuardManager(frame))


@BODIES
def test_a_body_whose_calls_all_hit_gives_the_events_of_a_plain_run(body) -> None:
    plain = events_of(body)
    with gt.optimize(guard_everything):
        events_of(body)
        second, third = events_of(body), events_of(body)
    assert second == third == plain


def test_code_met_first_in_the_second_run_adds_the_callback_there_and_no_more() -> None:
    def inner(x):
        return x

    def body():
        if is_whole:
            max(1, 2, key=inner)

    is_whole = False
    with gt.optimize(guard_everything):
        events_of(body)
        is_whole = True
        second, third = events_of(body), events_of(body)
    added = [each for each in second if each[1] == "guard_everything"]
    assert ("call", "guard_everything") in added
    assert [each for each in second if each[1] != "guard_everything"] == third
    assert third == events_of(body)
