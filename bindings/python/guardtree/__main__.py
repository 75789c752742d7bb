"""``python -m guardtree``: the demo, the benchmarks, and what this build can do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import __version__, features, get_include
from .installation import cmake_dir


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, found {text}")
    return number


class Print(argparse.Action):
    """An option that prints a path, whole, and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(self.const)
        parser.exit()


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m guardtree",
        description="Guards for Python JITs and frame evaluators.",
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
        "demo", help="run jobs of the standard library plain and specialised, compare"
    )
    demo.add_argument(
        "--files",
        type=positive,
        default=24,
        metavar="N",
        help="source files to work on",
    )
    demo.add_argument(
        "--repeat",
        type=positive,
        default=8,
        metavar="N",
        help="rounds of each measurement",
    )
    demo.add_argument("--json", action="store_true", help="write the report as JSON")
    commands.add_parser(
        "bench", help="the measurements; takes options of its own", add_help=False
    )
    commands.add_parser("features", help="what this build does on this Python")
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
    from .demo import run

    return run(options.files, options.repeat, options.json)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader had enough, as `head` does
        sys.stderr.close()
        sys.exit(141)
