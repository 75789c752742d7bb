"""What the entries of a compiled function are, and why a call would miss."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from types import CodeType
from typing import Any

import torch

import guardtree as gt

from . import installation
from .entries import Entry
from .explanations import Explanations
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


@dataclass(frozen=True)
class EntryReport:
    """One entry of a code object."""

    index: int
    """The oldest is 0."""
    hits: int
    at_once: int
    """Those of its hits that did not go through Dynamo's wrapper."""
    backend: str
    compile_id: str
    compile_seconds: float
    """How long Dynamo and the backend took."""
    guard_ns: int
    """How long one check of its guards took when it was made."""
    refused: str
    """Why torch's own guards check it; empty where guardtree's do."""
    python: list[str]
    """Guards that are asked of Python."""

    def __str__(self) -> str:
        found = (
            f"  entry {self.index}: {self.hits} hits ({self.at_once} at once), backend "
            f"{self.backend}, compiled as {self.compile_id} in "
            f"{self.compile_seconds:.3f} s, guards {self.guard_ns / 1000:.1f} us"
        )
        if self.refused:
            return f"{found}\n    torch's own guards check it: {self.refused}"
        if self.python:
            return f"{found}\n    asked of Python: {', '.join(self.python)}"
        return found


@dataclass(frozen=True)
class CodeReport:
    """The entries of one code object."""

    name: str
    file: str
    line: int
    hits: int
    misses: int
    entries: list[EntryReport]
    differences: dict[str, list[str]]
    """Facts in which the entries differ, with the value each requires, oldest first."""

    def __str__(self) -> str:
        head = (
            f"{self.name}: {len(self.entries)} entries, {self.hits} hits, "
            f"{self.misses} misses"
        )
        differ = [
            f"  differ in {fact}: {', '.join(values)}"
            for fact, values in self.differences.items()
        ]
        return "\n".join([head, *map(str, self.entries), *differ])


@dataclass(frozen=True)
class Report:
    """The entries of a compiled function: as text, as a dict, as JSON."""

    codes: list[CodeReport]
    """Of the function itself, then of what it calls after graph breaks."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return asdict(self)

    def to_json(self) -> str:
        """to_dict() as JSON."""
        return json.dumps(self.to_dict(), indent=1)

    def __str__(self) -> str:
        return "\n".join(map(str, self.codes))


def explain(model: Any, *args: Any, **named: Any) -> Explanations:
    """Why a call with these arguments would recompile: each guard that does not pass,
    of every entry, and the lines of your code it is there for; those with the fewest
    such guards come first. As text (str), to_dict() or to_json()."""
    values = locals_of(function_of(model), args, named)
    session = installation.current()
    session.plugin.want_backend(0)
    return Explanations.of(codes_of(model)[0], session.cache, values)


def report(model: Any) -> Report:
    """The entries of a compiled function: hits, times, backends, what torch's own
    guards check and why, and what the entries differ in. As text (str), to_dict() or
    to_json()."""
    return Report([report_of(code) for code in codes_of(model)])


def report_of(code: CodeType) -> CodeReport:
    """The entries of one code object."""
    entries = installation.current().cache.of(code)[::-1]
    stats = gt.code_stats(code)
    return CodeReport(
        code.co_name,
        code.co_filename,
        code.co_firstlineno,
        stats["hits"] + sum(each.entrance_hits() for each in entries),
        stats["misses"],
        [entry_report(*each) for each in enumerate(entries)],
        {
            fact: values
            for fact, values in gt.differences(code).items()
            if "native_pure" not in fact  # A key or torch's state: no text of either.
        },
    )


def entry_report(index: int, entry: Entry) -> EntryReport:
    """One entry."""
    return EntryReport(
        index,
        entry.hits(),
        entry.entrance_hits(),
        backend_name(entry.backend),
        str(entry.compile_id),
        entry.compile_seconds,
        entry.guard_ns,
        entry.refused,
        list(entry.python),
    )


def backend_name(backend: Any) -> str:
    """As it was given to torch.compile by name, or as the function is called."""
    for attribute in ("compiler_name", "__name__"):
        name = getattr(backend, attribute, None)
        if isinstance(name, str):
            return name
    return type(backend).__name__
