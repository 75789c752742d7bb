"""``python -m guardtree.torch build``: the reader for the torch at hand."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from .builder import PluginError, build, module_of, plugin_path, verify


def main() -> int:
    """Builds the plugin, or says where it is; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m guardtree.torch", description=__doc__
    )
    parser.add_argument(
        "command",
        choices=["build", "path"],
        help="build: compile the reader of tensors (needs a C++ compiler); "
        "path: print where it is kept",
    )
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="with build: put it there, for a wheel of guardtree that has it for "
        "everybody's use",
    )
    given = parser.parse_args()
    if given.command == "path":
        print(plugin_path())
        return 0
    try:
        path = build(given.into)
        verify(module_of(path))
    except (PluginError, ImportError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"built for torch {torch.__version__}: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
