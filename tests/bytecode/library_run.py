"""Breaks the standard library's functions at random, and runs CPython's tests on that.

    python tests/bytecode/library_run.py [--seed N] [--tests test_json,test_csv,...]

By hand or nightly; 1 to 3 minutes. The tests run twice in this process: as they are,
and after each function of MODULES was given the code of a break after one instruction,
chosen at random. It prints how many functions were broken, why the others were not,
and each test that fails only then; the exit status is the number of modules with such
tests.

What looks at frames (`sys._getframe`, a warning's `stacklevel`) sees one more of them
below a break, and so do recursion limits: FRAMES are left whole, and tests of recursion
limits and of function names in tracebacks may differ.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import sys
import time
import types
import unittest
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import alone  # noqa: F401  puts guardtree.bytecode within reach

from guardtree.bytecode import NotResumable, graph_break, read

MODULES = """
    _collections_abc _pydatetime _pydecimal _strptime argparse ast bisect calendar cmd
    code collections configparser contextlib copy csv dataclasses datetime decimal
    difflib dis email.message email._header_value_parser enum fileinput filecmp fnmatch
    fractions functools genericpath getopt gettext glob graphlib heapq html.parser
    inspect ipaddress json.decoder json.encoder json.scanner linecache logging mailbox
    mimetypes netrc ntpath numbers operator optparse pathlib pickle pickletools plistlib
    posixpath pprint queue quopri random reprlib sched shelve shlex shutil smtplib
    socketserver stat statistics string symtable tarfile tempfile textwrap threading
    timeit tokenize tomllib._parser trace traceback types typing unittest.mock
    urllib.parse uuid weakref xml.dom.minidom zipfile
""".split()
TESTS = """
    test_bisect test_calendar test_configparser test_copy test_csv test_decimal
    test_difflib test_fnmatch test_fractions test_getopt test_glob test_graphlib
    test_heapq test_htmlparser test_ipaddress test_json test_linecache test_mimetypes
    test_netrc test_ntpath test_optparse test_pickletools test_plistlib test_posixpath
    test_pprint test_queue test_quopri test_random test_reprlib test_sched test_shelve
    test_shlex test_statistics test_string test_strptime test_textwrap test_tokenize
    test_uuid test_weakref
""".split()
FRAMES = {
    "_getframe",
    "_getframemodulename",
    "currentframe",
    "extract_stack",
    "stacklevel",
    "warn",
    "warn_explicit",
    "_deprecated",
}

Result = tuple[int, dict[str, str]]


def functions(module: types.ModuleType) -> Iterator[types.FunctionType]:
    """The functions that a module defines, those of its classes included."""
    seen: set[int] = set()
    work: list[Any] = list(vars(module).values())
    while work:
        found = work.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, (staticmethod, classmethod)):
            work.append(found.__func__)
        elif isinstance(found, property):
            work += [found.fget, found.fset, found.fdel]
        elif isinstance(found, type) and found.__module__ == module.__name__:
            work += vars(found).values()
        elif isinstance(found, types.FunctionType):
            if found.__module__ == module.__name__:
                yield found


def broken_at_random(code: types.CodeType, chosen: random.Random) -> types.CodeType:
    """Code broken after one of its instructions. Raises NotResumable without one."""
    offsets = [each.offset for each in read(code)]
    chosen.shuffle(offsets)
    for offset in offsets:
        try:
            return graph_break(code, offset).code
        except NotResumable as error:
            if error.offset is None:
                raise
    raise NotResumable(code, None, "none of its instructions can be broken after")


def break_all(seed: int) -> Counter[str]:
    """Breaks the functions of MODULES; how many, and why not."""
    chosen, counts = random.Random(seed), Counter()
    for name in MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # not every version has every module
        for function in functions(module):
            if FRAMES.intersection(function.__code__.co_names):
                counts["left whole: looks at frames"] += 1
                continue
            try:
                function.__code__ = broken_at_random(function.__code__, chosen)
                counts["broken"] += 1
            except NotResumable as error:
                counts[f"left whole: {error.reason}"] += 1
    return counts


def run_tests(names: list[str]) -> dict[str, Result]:
    """By module: how many tests ran, and the tracebacks of those that failed."""
    results = {}
    for name in names:
        result = unittest.TestResult()
        result.buffer = True
        loader = unittest.TestLoader()
        loader.loadTestsFromName(f"test.{name}").run(result)
        failed = [*result.errors, *result.failures]
        results[name] = result.testsRun, {str(test): text for test, text in failed}
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", type=lambda text: text.split(","), default=TESTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(5000)  # a broken function takes two frames
    before = run_tests(arguments.tests)
    start = time.perf_counter()
    counts = break_all(arguments.seed)
    took = time.perf_counter() - start
    after = run_tests(arguments.tests)
    print(f"CPython {sys.version.split()[0]}, seed {arguments.seed}")
    for reason, count in counts.most_common():
        print(f"{count:6} {reason}")
    total = sum(count for count, _ in before.values())
    print(f"broken in {took:.1f} s; {total} tests of {len(before)} modules, twice")
    differing = 0
    for name, (count, failed) in after.items():
        new = [test for test in failed if test not in before[name][1]]
        if not new and count == before[name][0]:
            continue
        differing += 1
        print(f"{name}: {before[name][0]} tests ran and {count}, {len(new)} fail now")
        for test in new[:3]:
            print(
                f"  {test}\n    " + failed[test].strip().replace("\n", "\n    ")[-600:]
            )
    print(f"{differing} modules differ")
    return differing


if __name__ == "__main__":
    os.chdir(os.environ.get("TMPDIR", "/var/tmp"))  # CPython's tests leave files
    sys.exit(main())
