"""``python -m guardtree``: the demo, benchmarks, reports, and features of a build."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__, features, get_include
from .installation import cmake_dir

DEMO = """\
Runs jobs of the standard library twice, plain and with a specialising JIT that is built
on guardtree, compares the results and the times, and shows the guards, a miss and its
explanation. It takes about a minute."""

BENCH = """\
Measures guardtree on this machine: checks, tables, the frame hook. It takes options of
its own: `python -m guardtree bench --help`."""

FEATURES = """\
Prints what this build does on this Python, one line each: the CPython it is built for,
how guard_function works here, whether dict watchers are used."""

VIEW = """\
Makes a page for the browser of a report that was saved as JSON:

    guardtree.report(function, {"x": 3}).save("report.json")
    guardtree.explain(function, {"x": 3}).to_json()          (failures alone)

The page is one file and loads nothing from a network."""


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, found {text}")
    return number


class Print(argparse.Action):
    """An option that prints a path on one line and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(self.const)
        parser.exit()


def parser() -> argparse.ArgumentParser:
    plain = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        prog="python -m guardtree",
        description="Guards for Python JITs and frame evaluators.",
        epilog="`python -m guardtree COMMAND --help` says more about a command. "
        "`python -m guardtree.torch build` compiles the reader of torch tensors.",
    )
    made.add_argument("--version", action="version", version=f"guardtree {__version__}")
    for name, path, use in (
        ("--include", get_include(), "the folder of guardtree.h"),
        (
            "--cmake-dir",
            cmake_dir(),
            "guardtree_DIR for find_package(guardtree CONFIG)",
        ),
    ):
        made.add_argument(name, action=Print, nargs=0, const=path, help=f"print {use}")
    commands = made.add_subparsers(dest="command", required=True, metavar="command")
    demo = commands.add_parser(
        "demo",
        help="run jobs of the standard library plain and specialised, compare",
        description=DEMO,
        formatter_class=plain,
    )
    demo.add_argument(
        "--files",
        type=positive,
        default=24,
        metavar="N",
        help="source files to work on (default: %(default)s)",
    )
    demo.add_argument(
        "--repeat",
        type=positive,
        default=8,
        metavar="N",
        help="rounds of each measurement (default: %(default)s)",
    )
    demo.add_argument("--json", action="store_true", help="write the report as JSON")
    commands.add_parser(
        "bench",
        help="measure guardtree here; takes options of its own",
        description=BENCH,
        add_help=False,
    )
    commands.add_parser(
        "features",
        help="print what this build does on this Python",
        description=FEATURES,
        formatter_class=plain,
    )
    view = commands.add_parser(
        "view",
        help="show a saved report in the browser",
        description=VIEW,
        formatter_class=plain,
    )
    view.add_argument("file", type=Path, metavar="FILE.json", help="the saved report")
    view.add_argument(
        "--output",
        type=Path,
        metavar="FILE.html",
        help="the page to write (default: beside FILE.json)",
    )
    view.add_argument(
        "--no-browser", action="store_true", help="write the page, do not open it"
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["bench"]:
        from .bench import main as bench

        return int(bench(words[1:]) or 0)
    options = parser().parse_args(words)
    if options.command == "features":
        for name, value in features().items():
            print(f"{name}: {value}")
        return 0
    if options.command == "view":
        from .reports.view import view

        output = options.output or options.file.with_suffix(".html")
        return view(options.file, output, not options.no_browser)
    from .demo import run

    return run(options.files, options.repeat, options.json)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader, such as `head`, stopped reading
        sys.stderr.close()
        sys.exit(141)
