"""The demo's workload: jobs of the standard library, on its own source files."""

from __future__ import annotations

import ast
import base64
import copy
import difflib
import html
import importlib.util
import json
import json.decoder
import json.scanner
import os
import posixpath
import sys
import sysconfig
import tarfile
import textwrap
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib import parse

# A fixed choice, so that runs can be compared; all of it ships with every CPython.
FOLDERS = ("", "json", "tomllib", "urllib", "email", "logging", "html", "importlib")
LARGEST = 60_000  # bytes; the few larger modules would outweigh all others

MODULES = frozenset(
    {
        "_pydatetime",
        "base64",
        "copy",
        "datetime",
        "difflib",
        "genericpath",
        "html",
        "json.decoder",
        "json.scanner",
        "posixpath",
        "tarfile",
        "textwrap",
        "tomllib._parser",
        "urllib.parse",
    }
)
"""Modules whose functions the demo's compiler may specialise."""


@dataclass(frozen=True)
class Corpus:
    """What is read from the disk before anything is measured."""

    root: str
    paths: list[str]
    sizes: dict[str, tuple[int, int]]  # bytes, modification time
    lines: list[list[str]]
    docstrings: list[str]
    document: dict[str, Any]
    as_json: str
    as_toml: str


def read_corpus(count: int) -> Corpus:
    """`count` source files of the standard library, and what can be said of them."""
    root = sysconfig.get_path("stdlib")
    found = [
        str(path)
        for folder in FOLDERS
        for path in sorted((Path(root) / folder).glob("*.py"))
        if path.stat().st_size <= LARGEST
    ]
    step = max(1, len(found) // max(1, count))
    paths = found[::step][:count]
    sizes = {}
    lines = []
    docstrings = []
    entries = {}
    for path in paths:
        status = os.stat(path)
        sizes[path] = (status.st_size, int(status.st_mtime))
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        lines.append(text.splitlines(keepends=True))
        notes = _docstrings(text)
        docstrings += notes
        name = posixpath.relpath(path, root).replace("/", ".")
        entries[name] = {
            "path": path,
            "bytes": status.st_size,
            "lines": text.count("\n"),
            "long": len(text) > 20_000,
            "mean": round(len(text) / (text.count("\n") + 1), 3),
            "notes": [note.strip().splitlines()[0] for note in notes if note.strip()],
        }
    document = {"root": root, "count": len(paths), "modules": entries}
    made = json.dumps(document, indent=1)
    return Corpus(
        root, paths, sizes, lines, docstrings, document, made, _toml(document)
    )


def _docstrings(text: str) -> list[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [each for each in ast.walk(ast.parse(text)) if isinstance(each, kinds)]
    return [note for each in nodes if (note := ast.get_docstring(each, clean=False))]


def _toml(document: dict[str, Any]) -> str:
    """The document as TOML: strings of JSON are strings of TOML."""
    lines = [f"root = {json.dumps(document['root'])}", f"count = {document['count']}"]
    for name, entry in document["modules"].items():
        lines.append(f"[modules.{json.dumps(name)}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def paths(corpus: Corpus) -> Any:
    """posixpath on names, as str and as bytes"""
    result: list[Any] = [posixpath.commonpath(corpus.paths)]
    for path in corpus.paths:
        name: Any
        for name in (path, os.fsencode(path)):
            folder, base = posixpath.split(name)
            stem, ending = posixpath.splitext(base)
            again = posixpath.normpath(posixpath.join(folder, stem + ending))
            result.append((again, posixpath.basename(name), posixpath.dirname(name)))
            result.append((posixpath.isabs(again), posixpath.normcase(stem)))
        for other in corpus.paths[:5]:
            result.append(posixpath.relpath(path, posixpath.dirname(other)))
    return result


def urls(corpus: Corpus) -> Any:
    """urllib.parse on names and titles"""
    result: list[Any] = []
    for path in corpus.paths:
        quoted = parse.quote(path)
        url = parse.urljoin("https://docs.python.org/3/library/index.html", quoted)
        parts = parse.urlsplit(url)
        result.append((quoted, url, parts.geturl(), parse.unquote(parts.path)))
    for note in corpus.docstrings:
        title = note.strip().partition("\n")[0]
        result.append([parse.quote(word, safe="") for word in title.split()])
        result.append((parse.quote_plus(title), parse.urlencode({"q": title})))
    return result


def python_half(name: str, blocked: str) -> Any:
    """A module as it is where its C half is not there."""
    missing = object()
    kept: Any = sys.modules.get(blocked, missing)
    modules: dict[str, Any] = sys.modules
    modules[blocked] = None
    try:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            raise ImportError(name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        del modules[blocked]
        if kept is not missing:
            modules[blocked] = kept


def dates(corpus: Corpus) -> Any:
    """datetime in pure Python on the files' times"""
    result: list[Any] = []
    first = min(time for _, time in corpus.sizes.values())
    start = DATETIME.datetime(1970, 1, 1)
    for size, time in corpus.sizes.values():
        moment = start + DATETIME.timedelta(seconds=time)
        age = moment - (start + DATETIME.timedelta(0, first))
        later = moment + DATETIME.timedelta(days=size % 1000, minutes=size)
        result.append((moment.isoformat(), str(age), later.isoformat(" ", "minutes")))
        result.append((age.total_seconds(), later > moment, later.weekday()))
        result.append((moment.replace(year=2001).ctime(), (age / 7).days))
    return result


def archive(corpus: Corpus) -> Any:
    """tarfile headers, written and read back"""
    result: list[Any] = []
    for path in corpus.paths:
        info = tarfile.TarInfo(posixpath.relpath(path, corpus.root))
        info.size, info.mtime = corpus.sizes[path]
        for layout in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT):
            block = info.tobuf(layout)
            again = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            result.append((block, again.name, again.size, again.mtime))
    return result


def config(corpus: Corpus) -> Any:
    """tomllib on an index of the files"""
    return tomllib.loads(corpus.as_toml)


def encode(corpus: Corpus) -> Any:
    """base64's Ascii85 and Base85"""
    result: list[bytes] = []
    for lines in corpus.lines:
        data = "".join(lines[:20]).encode()
        result += (base64.b85encode(data), base64.a85encode(data))
        result.append(base64.a85encode(data, foldspaces=True))
    return result


def document(corpus: Corpus) -> Any:
    """json in pure Python on the same index"""
    decoder: Any = json.JSONDecoder()
    # What json falls back on without its C half.
    decoder.parse_string = vars(json.decoder)["py_scanstring"]
    decoder.scan_once = vars(json.scanner)["py_make_scanner"](decoder)
    return decoder.decode(corpus.as_json)


def copies(corpus: Corpus) -> Any:
    """copy.deepcopy of the index"""
    return copy.deepcopy(corpus.document)


def prose(corpus: Corpus) -> Any:
    """textwrap and html.escape on the docstrings"""
    result: list[str] = []
    for note in corpus.docstrings:
        flat = textwrap.dedent(note)
        result.append(textwrap.shorten(flat, 60, placeholder="..."))
        result.append(html.escape(textwrap.indent(flat, "> ")))
    return result


def compare(corpus: Corpus) -> Any:
    """difflib on neighbouring files"""
    result: list[str] = []
    for one, other in zip(corpus.lines[:4], corpus.lines[1:], strict=False):
        result += difflib.unified_diff(one[:200], other[:200])
    return result


DATETIME = python_half(
    "_pydatetime" if sys.version_info >= (3, 12) else "datetime", "_datetime"
)

Task = Callable[[Corpus], Any]
TASKS: tuple[Task, ...] = (
    *(paths, urls, archive, encode, dates),
    *(config, document, copies, prose, compare),
)
