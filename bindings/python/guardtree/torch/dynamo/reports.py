"""What the entries of a compiled function are, and why a call would miss."""

from __future__ import annotations

from types import CodeType
from typing import Any

import torch

import guardtree as gt

from . import installation
from .entries import Entry
from .frames import locals_of


def wrapper_of(model: Any) -> Any:
    """The function that torch.compile made; TypeError where there is none."""
    found = model
    if isinstance(model, torch.nn.Module):
        found = getattr(model, "_compiled_call_impl", None) or model.forward
    if not hasattr(found, "_torchdynamo_orig_callable"):
        raise TypeError(f"{model!r:.80} is not what torch.compile gives")
    return found


def function_of(model: Any) -> Any:
    """The function whose frame Dynamo compiles first."""
    return wrapper_of(model)._torchdynamo_orig_callable


def codes_of(model: Any) -> list[CodeType]:
    """Its code, and the other codes that were compiled for it: what it calls after
    graph breaks, and what Dynamo resumes."""
    wrapper = wrapper_of(model)
    free = dict(zip(wrapper.__code__.co_freevars, wrapper.__closure__ or ()))
    callback, cache = free["callback"].cell_contents, installation.current().cache
    first: CodeType = function_of(model).__code__
    others = [
        code
        for code in cache.codes()
        if code is not first
        and any(each.callback is callback for each in cache.of(code))
    ]
    return [first, *others]


def explain(model: Any, *args: Any, **named: Any) -> str:
    """Why a call with these arguments would recompile: each guard that does not pass,
    of every entry; those with the fewest such guards come first."""
    session = installation.current()
    code = codes_of(model)[0]
    values = locals_of(function_of(model), args, named)
    entries = session.cache.of(code)
    if not entries:
        return f"{code.co_name}: no entry"
    failed: list[tuple[int, str]] = []
    session.plugin.want_backend(0)
    for number, entry in enumerate(reversed(entries)):
        said = entry.guards.explain(values)
        count = len(said.failures)
        passed = f"{count} guards do not pass\n{said}" if count else "all guards pass"
        failed.append((count, f"entry {number} ({entry.hits()} hits): {passed}"))
    failed.sort(key=lambda each: each[0])
    return "\n".join([f"{code.co_name}:", *(text for _, text in failed)])


def report(model: Any) -> str:
    """The entries of a compiled function: hits, backends, what torch's own guards
    check and why, and what the entries differ in."""
    session = installation.current()
    lines = []
    for code in codes_of(model):
        entries = session.cache.of(code)[::-1]
        stats = gt.code_stats(code)
        hits = stats["hits"] + sum(each.entrance_hits() for each in entries)
        lines.append(
            f"{code.co_name}: {len(entries)} entries, {hits} hits, "
            f"{stats['misses']} misses"
        )
        lines += [line for each in enumerate(entries) for line in lines_of(*each)]
        for fact, values in gt.differences(code).items():
            if "native_pure" not in fact:  # A key or torch's state: no text of either.
                lines.append(f"  differ in {fact}: {', '.join(values)}")
    return "\n".join(lines)


def lines_of(number: int, entry: Entry) -> list[str]:
    """One entry."""
    backend = getattr(entry.backend, "__name__", type(entry.backend).__name__)
    found = [
        f"  entry {number}: {entry.hits()} hits, backend {backend}, "
        f"compiled as {entry.compile_id}"
    ]
    if entry.refused:
        found.append(f"    torch's own guards check it: {entry.refused}")
    elif entry.python:
        found.append(f"    asked of Python: {', '.join(entry.python)}")
    return found
