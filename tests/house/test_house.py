"""House rules that a machine can check: sizes, layers, versions, names, plain text.

Each test is one rule; its docstring is the rule, and what breaks it is listed.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ["framelocals", "guards", "dsl", "framehook", "capi", "bindings"]
ROOMS = [*LAYERS, "bench", "tests"]
VERSIONED = "framelocals/cpython/"  # the only place that knows CPython versions

# Folders that builds and tools make, in any place.
MADE = re.compile(
    r"build.*|bench-results|dist|wheelhouse|__pycache__|.*\.egg-info"
    r"|\.(?!ci$|github$).*"
)
BINARY = {".png", ".svg", ".so", ".pyc", ".gz", ".whl"}
DERIVED = re.compile(r"\.gen\.|\.pyi$|REFERENCE\.md$")

CPP = (".h", ".cpp")
PYTHON = (".py",)
CMAKE = (".cmake", "CMakeLists.txt")
SOURCES = (*CPP, *PYTHON, *CMAKE)


def every_file() -> Iterator[str]:
    """Paths of all text files of the repository, relative to it."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not MADE.fullmatch(name))
        for name in sorted(names):
            if Path(name).suffix not in BINARY:
                yield (Path(folder) / name).relative_to(ROOT).as_posix()


FILES = [path for path in every_file() if path != ".git"]  # a worktree's .git is a file


def files(*endings: str, inside: Iterable[str] = ("",)) -> list[str]:
    """Files with one of the endings (all, if none is given) in the folders."""
    found = [path for path in FILES if path.endswith(endings or "")]
    return [path for path in found if path.startswith(tuple(inside))]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def code(path: str) -> str:
    """C++ without its comments; lines keep their numbers."""
    blank = re.sub(
        r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text(path), flags=re.S
    )
    return re.sub(r"//.*", "", blank)


def matches(
    pattern: str, paths: Iterable[str], read: Callable[[str], str] = text
) -> list[str]:
    """`path:line: text` of every line that has the pattern."""
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path in paths
        for number, line in enumerate(read(path).splitlines(), 1)
        if re.search(pattern, line)
    ]


def demand_none(offenders: list[str], rule: Callable[[], None]) -> None:
    """Fails with the rule's sentence and what breaks it."""
    listing = "\n  ".join(offenders)
    assert not offenders, f"{rule.__doc__}\n  {listing}"


def test_the_walk_sees_the_house() -> None:
    """The walk finds every room, or the other rules would pass on nothing."""
    seen = {path.split("/")[0] for path in FILES}
    wanted = [*ROOMS, "dev.py", "LICENSE", ".clang-format", ".ci"]
    demand_none(sorted(set(wanted) - seen), test_the_walk_sees_the_house)


def test_size() -> None:
    """A file has at most 500 lines, a CMakeLists.txt 150."""
    offenders = []
    for path in files():
        wall = 150 if path.endswith("CMakeLists.txt") else 500
        lines = len(text(path).splitlines())
        if lines > wall and not DERIVED.search(path):
            offenders.append(f"{path}: {lines} lines, the wall is {wall}")
    demand_none(offenders, test_size)


def test_width() -> None:
    """A line of C++ or Python has at most 88 columns."""
    sources = [path for path in files(*CPP, *PYTHON) if ".gen." not in path]
    demand_none(matches(r"^.{89}", sources), test_width)


def test_ascii() -> None:
    """Files are ASCII."""
    demand_none(matches(r"[^\x00-\x7f]", files()), test_ascii)


def test_no_tabs() -> None:
    """Files have no tabs and no blanks at a line's end."""
    demand_none(matches(r"\t|[ \r]$", files()), test_no_tabs)


def test_first_line() -> None:
    """The first line of a source file is a comment that says what the file holds."""
    offenders = []
    for path in files(*SOURCES, ".ci/run"):
        lines = [line for line in text(path).splitlines() if not line.startswith("#!")]
        first = lines[0] if lines else ""
        mark = r"///? |/\* " if path.endswith(CPP) else r'r?"""|# '
        said = re.match(mark, first) and not re.search("SPDX|Copyright|pragma", first)
        if not said or len(first.split()) < 4:
            offenders.append(f"{path}: {first!r}")
    demand_none(offenders, test_first_line)


def test_pragma_once() -> None:
    """A header has #pragma once."""
    headers = files(".h")
    bare = [
        path for path in headers if not re.search(r"^#pragma once$", text(path), re.M)
    ]
    demand_none(bare, test_pragma_once)


def test_layers() -> None:
    """Rooms include only rooms below: framelocals, guards, dsl, framehook, capi,
    bindings.

    Paths are relative to the file ("../guards/op.h"), so that they hold installed.
    """
    offenders = []
    for path in files(*CPP, inside=[f"{room}/" for room in LAYERS]):
        room = path.split("/")[0]
        allowed = LAYERS[: LAYERS.index(room) + 1]
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', code(path), re.M):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            if target.split("/")[0] not in allowed:
                offenders.append(f'{path}: "{name}"')
        if re.search(r"#\s*include\s*<guardtree/", code(path)):
            offenders.append(f"{path}: <guardtree/...> is for those outside")
    demand_none(offenders, test_layers)


def test_versions() -> None:
    """CPython's version and private headers are known in framelocals/cpython/ only."""
    pattern = (
        r"\bPY_(VERSION_HEX|M[AI]NOR_VERSION|MAJOR_VERSION)\b|\binternal/|Py_BUILD_CORE"
    )
    elsewhere = [path for path in files(*CPP) if not path.startswith(VERSIONED)]
    demand_none(matches(pattern, elsewhere, code), test_versions)


def test_compiler_words() -> None:
    """Words of compilers and processors are in framelocals/compiler.h only."""
    words = r"__builtin_|__atomic_|__sync_|__asm__|\balloca\(|tls_model|__x86_64__"
    paths = [path for path in files(*CPP) if not path.startswith(("tests/", "bench/"))]
    elsewhere = [path for path in paths if path != "framelocals/compiler.h"]
    demand_none(matches(words, elsewhere, code), test_compiler_words)


def test_references() -> None:
    """References are counted by Owned<T>: no Py_INCREF and the like outside ref.h."""
    owners = ("framelocals/ref.h", VERSIONED)
    elsewhere = [path for path in files(*CPP) if not path.startswith(owners)]
    found = matches(r"\bPy_X?(INCREF|DECREF|NewRef)\b", elsewhere, code)
    demand_none(found, test_references)


def test_to_dos() -> None:
    """Work left undone names its issue's number in brackets behind the mark."""
    # In two pieces, so that this file does not find itself.
    mark = r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\))"
    demand_none(matches(mark, files(*SOURCES)), test_to_dos)


def test_paths() -> None:
    """No file names a folder of the machine it was written on."""
    pattern = r"(?<![\w.}])/(home|root|Users|tmp|work|workspace)/\w"
    demand_none(matches(pattern, files()), test_paths)


def test_readmes() -> None:
    """Every room has a README.md of 20 to 60 lines; dsl's and tests' to 160."""
    offenders = []
    for room in ROOMS:
        path = ROOT / room / "README.md"
        lines = len(path.read_text().splitlines()) if path.is_file() else 0
        if not 20 <= lines <= (160 if room in ("dsl", "tests") else 60):
            offenders.append(f"{room}/README.md: {lines} lines")
    demand_none(offenders, test_readmes)


def test_named_files() -> None:
    """A C++ file that a page names by its room exists."""
    rooms = "|".join([*LAYERS, "bench"])
    pattern = rf"(?<![\w/.<-])(?:{rooms})/[\w/]+\.(?:gen\.)?(?:h|cpp)\b"
    offenders = [
        f"{path}: {name}"
        for path in files(".md")
        for name in re.findall(pattern, text(path))
        if not {name, f"tests/{name}"} & set(FILES)
        and "is_ellipsis" not in name  # which CONTRIBUTING adds
    ]
    demand_none(offenders, test_named_files)


def entity_files() -> list[str]:
    """The headers in folders where a file is one kind, step or relation."""
    folders = ("guards/kinds/", "guards/steps/", "guards/relations/")
    return files(".h", inside=folders)


def test_entity_names() -> None:
    """A kind's or step's file holds one struct, which has the file's name."""
    offenders = []
    for path in entity_files():
        expected = "".join(word.capitalize() for word in Path(path).stem.split("_"))
        structs = re.findall(r"^struct (\w+)(?: final)? \{", text(path), re.M)
        if structs != [expected]:
            offenders.append(f"{path}: {structs}, not {expected}")
    demand_none(offenders, test_entity_names)


def test_entity_sizes() -> None:
    """A kind's or step's file has at most 80 lines."""
    sizes = {path: len(text(path).splitlines()) for path in entity_files()}
    large = [f"{path}: {size} lines" for path, size in sizes.items() if size > 80]
    demand_none(large, test_entity_sizes)
