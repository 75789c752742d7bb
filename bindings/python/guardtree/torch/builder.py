"""Builds and finds the torch plugin: one shared object for each torch and CPython."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import torch

from ..installation import HOME
from ..progress import Progress

SOURCE = Path(__file__).absolute().parent  # a staged package is made of links
HEADERS = HOME / "torch"  # elsewhere in an editable install
MODULE = "guardtree.torch._plugin"


class PluginError(RuntimeError):
    """The plugin is missing, does not match, or could not be built."""


def sources_hash() -> str:
    """Tells the sources of the plugin and what they share with the core: one that was
    built of others is never loaded."""
    digest = hashlib.sha256()
    files = {*SOURCE.glob("*.h"), *SOURCE.glob("*.cpp"), *HEADERS.glob("*.h")}
    for path in sorted(files):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def plugin_path() -> Path:
    """Where the plugin for this torch and this CPython is kept; it may not exist."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    tag = f"{sys.implementation.cache_tag}-torch-{torch.__version__}-{sources_hash()}"
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
    return Path(cache) / "guardtree" / f"_plugin-{tag}{suffix}"


def load() -> ModuleType:
    """The plugin's module. PluginError when it is missing or of another torch."""
    path = plugin_path()
    if not path.exists():
        raise PluginError(f"there is no plugin for torch {torch.__version__}.")
    loader = importlib.machinery.ExtensionFileLoader(MODULE, str(path))
    spec = importlib.util.spec_from_file_location(MODULE, path, loader=loader)
    if spec is None:
        raise PluginError(f"{path} is no extension module.")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    version = torch.__version__.split("+")[0]
    if module.torch_version != version:
        raise PluginError(
            f"the plugin is built for torch {module.torch_version}, this is {version}."
        )
    return module


def command(compiler: str, to: Path) -> list[str]:
    """The compiler's command line."""
    home = Path(torch.__file__).resolve().parent
    include = home / "include"
    folders = [include, include / "torch/csrc/api/include", SOURCE, HEADERS]
    folders.append(Path(sysconfig.get_paths()["include"]))
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    return [
        compiler, "-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-shared",
        "-fvisibility=hidden", f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
        *(f"-isystem{folder}" for folder in folders),
        str(SOURCE / "plugin.cpp"), f"-L{home / 'lib'}", "-lc10",
        f"-Wl,-rpath,{home / 'lib'}", "-o", str(to),
    ]  # fmt: skip


def build() -> Path:
    """Compiles the plugin for the torch at hand in a few seconds. Returns its path.

    PluginError with the compiler's words when it fails. Replaces an older one only when
    the new one is complete.
    """
    names = [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    compiler = next((name for name in names if name and shutil.which(name)), None)
    if compiler is None:
        raise PluginError(
            "no C++ compiler was found; install one (apt-get install g++) or name it "
            "in CXX"
        )
    path = plugin_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with Progress("guardtree.torch") as progress:
            progress(f"{compiler} compiles the plugin for torch {torch.__version__}")
            done = subprocess.run(
                command(compiler, fresh), capture_output=True, text=True, check=False
            )
        if done.returncode != 0:
            raise PluginError(
                f"{compiler} could not build the plugin:\n{done.stderr[-4000:]}"
            )
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return path
