"""The demo's jobs: functions of the standard library, on its own source files."""

from __future__ import annotations

import colorsys
import encodings.idna
import encodings.punycode
import importlib.util
import io
import ntpath
import posixpath
import sys
import sysconfig
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

# A fixed choice, so that runs can be compared; all of it ships with every CPython.
FOLDERS = ("", "json", "tomllib", "urllib", "email", "logging", "html", "importlib")
LARGEST = 60_000  # bytes


@dataclass(frozen=True)
class Corpus:
    """What is read from the disk before anything is measured."""

    paths: list[str]
    texts: list[str]
    tokens: list[list[tuple[int, str]]]
    words: list[str]


def read_corpus(count: int) -> Corpus:
    """About `count` source files, spread over the folders, and their words."""
    root = sysconfig.get_path("stdlib")
    found = [
        str(path)
        for folder in FOLDERS
        for path in sorted((Path(root) / folder).glob("*.py"))
        if path.stat().st_size <= LARGEST
    ]
    paths = found[:: max(1, len(found) // count)][:count]
    texts = [Path(path).read_text("utf-8", "replace")[:4000] for path in paths]
    tokens = []
    for path in paths[:4]:
        with open(path, encoding="utf-8") as file:
            tokens.append(
                [each[:2] for each in tokenize.generate_tokens(file.readline)]
            )
    letters = str.maketrans("aeiou", "\u00e4\u00e9\u0131\u00f6\u00fc")
    words = {word for text in texts for word in text.split() if word.isalpha()}
    accented = [word.translate(letters) for word in sorted(words)]
    return Corpus(paths, texts, tokens, accented)


def python_half(name: str, blocked: str) -> ModuleType:
    """A module as it is where its C half is not there."""
    kept = sys.modules.get(blocked)
    modules: dict[str, Any] = sys.modules
    modules[blocked] = None
    try:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            raise ImportError(name)
        spec.name = f"_demo_{name}"
        module = importlib.util.module_from_spec(spec)
        modules[spec.name] = module
        spec.loader.name = spec.name  # type: ignore[attr-defined]
        spec.loader.exec_module(module)
        return module
    finally:
        del modules[blocked]
        if kept is not None:
            modules[blocked] = kept


def hosts(corpus: Corpus) -> Any:
    """encodings.idna on words as host names"""
    return [encodings.idna.nameprep(word) for word in corpus.words]


def punycode(corpus: Corpus) -> Any:
    """encodings.punycode, there and back"""
    words = [(word, word.encode("punycode")) for word in corpus.words[:300]]
    return [(data, data.decode("punycode")) for word, data in words]


def mail(corpus: Corpus) -> Any:
    """quopri in pure Python, there and back"""
    results = []
    for text in corpus.texts[:4]:
        quoted, plain = io.BytesIO(), io.BytesIO()
        QUOPRI.encode(io.BytesIO(text.encode()), quoted, False)
        QUOPRI.decode(io.BytesIO(quoted.getvalue()), plain)
        results.append((quoted.getvalue(), plain.getvalue()))
    return results


def colours(corpus: Corpus) -> Any:
    """colorsys on a palette"""
    steps = [each / 8 for each in range(9)]
    return [colorsys.hls_to_rgb(h, l, s) for h in steps for l in steps for s in steps]


def sources(corpus: Corpus) -> Any:
    """tokenize.Untokenizer on tokens of the files"""
    results = []
    for tokens in corpus.tokens:
        writer = tokenize.Untokenizer()
        writer.compat(tokens[0], iter(tokens[1:]))
        results.append("".join(writer.tokens))
    return results


def dates(corpus: Corpus) -> Any:
    """datetime in pure Python: a series of dates"""
    result: list[Any] = []
    start, limit = DATETIME.datetime(1970, 1, 1), DATETIME.timedelta(365)
    for number in range(0, 90_000, 450):
        later = start + DATETIME.timedelta(days=number % 1000, minutes=number)
        again = DATETIME.datetime(later.year, 1 + number % 12, 1 + number % 28)
        age = later - start
        result.append((later.toordinal(), age.days, age.seconds, age < limit))
        result.append((again.weekday(), DATETIME.timedelta(number), age * 2))
    return [str(each) for each in result[-20:]] + [result]


def unix_paths(corpus: Corpus) -> Any:
    """posixpath on names of files"""
    result: list[Any] = []
    for path in corpus.paths:
        folder, base = posixpath.split(path)
        stem, ending = posixpath.splitext(base)
        result.append(posixpath.normpath(posixpath.join(folder, "..", stem + ending)))
        for other in corpus.paths[:5]:
            result.append(posixpath.relpath(path, other))
    return result


def windows_paths(corpus: Corpus) -> Any:
    """ntpath on names of files"""
    result: list[Any] = []
    for path in corpus.paths:
        name = "C:" + path.replace("/", "\\")
        folder, base = ntpath.split(name)
        stem, ending = ntpath.splitext(base)
        result.append((ntpath.join(folder, "sub", stem + ending), ntpath.isabs(name)))
        result.append((ntpath.splitdrive(name), ntpath.basename(name)))
    return result


DATETIME = python_half(
    "_pydatetime" if sys.version_info >= (3, 12) else "datetime", "_datetime"
)
QUOPRI = python_half("quopri", "binascii")

Job = Callable[[Corpus], Any]
JOBS: tuple[Job, ...] = (
    *(hosts, punycode, mail, colours),
    *(sources, dates, unix_paths, windows_paths),
)
MODULES = frozenset(
    {
        *("colorsys", "encodings.idna", "encodings.punycode", "ntpath", "genericpath"),
        *("posixpath", "stringprep", "tokenize"),
        *(each.__name__ for each in (DATETIME, QUOPRI)),
    }
)
"""Modules whose functions the demo's JIT may specialise."""
