"""Builds and finds the torch plugin: one shared object for each torch and CPython.

A wheel of guardtree may bring plugins in `readers/`: then its users need no compiler.
Local parts of torch's version (`+cpu`, `+cu128`) share one: c10's layout is the same,
and autograd's.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from .. import _guardtree
from ..installation import HOME
from ..progress import Progress
from ..semantics.tensors import local_keys_of

SOURCE = Path(__file__).absolute().parent  # a staged package is made of links
HEADERS = HOME / "torch"  # elsewhere in an editable install
SHIPPED = HEADERS / "readers"
MODULE = "guardtree.torch._plugin"


class PluginError(RuntimeError):
    """The plugin is missing, does not match, or could not be built."""


class UnfitPlugin(PluginError):
    """The plugin reads tensors otherwise than torch."""


def sources_hash() -> str:
    """Tells the sources of the plugin and what they share with the core: one that was
    built of others is never loaded."""
    digest = hashlib.sha256()
    files = {*SOURCE.glob("*.h"), *SOURCE.glob("*.cpp"), *HEADERS.glob("*.h")}
    for path in sorted(files):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def name_for(version: str) -> str:
    """The file name of the plugin for a torch, this CPython and these sources."""
    tag = f"{sys.implementation.cache_tag}-torch-{version}-{sources_hash()}"
    return f"_plugin-{tag}{sysconfig.get_config_var('EXT_SUFFIX') or '.so'}"


def plugin_path() -> Path:
    """Where a plugin that is built for this torch and CPython is kept, if there is."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "guardtree" / name_for(torch.__version__)


def shipped_path(folder: Path | None = None) -> Path:
    """Where the wheel has the plugin for this torch and CPython, if it does."""
    return (folder or SHIPPED) / name_for(torch.__version__.split("+")[0])


def load() -> ModuleType:
    """The plugin's module: the one built here, else the wheel's.

    PluginError when there is none, or it is of another torch, or does not read what
    torch says of some tensors.
    """
    for path in (plugin_path(), shipped_path()):
        if path.exists():
            module = module_of(path)
            verify(module)
            return module
    raise PluginError(f"there is no plugin for torch {torch.__version__}.")


def verify(module: ModuleType) -> None:
    """That it reads what torch itself says of some tensors."""
    kind = type("Probe", (torch.Tensor,), {})
    _guardtree.register_tensor_type(kind, module.reader)
    # Whoever imports this may trace, or have another default device. That no reader is
    # registered yet is no news here.
    with (
        torch._C.DisableTorchFunction(),
        _disable_current_modes(),
        warnings.catch_warnings(action="ignore"),
    ):
        for made in (
            torch.zeros(2, 3, device="cpu"),
            torch.zeros(4, 5, dtype=torch.int64, device="cpu")[1:, ::2].t(),
            torch.zeros((), dtype=torch.complex64, device="cpu").requires_grad_(),
            torch.zeros(2, device="cpu").requires_grad_().requires_grad_(False),
            torch.zeros(2, device="cpu").requires_grad_() * 2,
        ):
            tensor: Any = made.as_subclass(kind)
            expected = {
                "dtype": str(tensor.dtype).removeprefix("torch."),
                "device": "cpu",
                "shape": tuple(tensor.shape),
                "strides": tensor.stride(),
                "requires_grad": tensor.requires_grad,
            }
            facts = _guardtree.tensor_facts(tensor)
            found = {name: facts.get(name) for name in expected}
            if found != expected:
                raise UnfitPlugin(
                    f"the plugin reads {found} where torch has {expected}."
                )
            verify_gradient(tensor)


def verify_gradient(tensor: Any) -> None:
    """That a check finds whether a tensor wants a gradient, which it reads apart."""
    for wanted in (False, True):
        facts = _guardtree.tensor_facts(tensor) | {"requires_grad": wanted}
        facts["local_dispatch_keys"] = local_keys_of(tensor)
        del facts["dispatch_keys"]
        guards = _guardtree.GuardManager(verify_gradient)
        guards.local("tensor").tensor_match(facts)
        if guards.check({"tensor": tensor}) != (tensor.requires_grad == wanted):
            raise UnfitPlugin(
                "the plugin does not find that requires_grad is "
                f"{tensor.requires_grad} in a tensor of torch."
            )


def module_of(path: Path) -> ModuleType:
    """The module in a file. PluginError when it is of another torch."""
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


def command(compiler: str, to: Path, is_for_wheel: bool) -> list[str]:
    """The compiler's command line. What goes into a wheel finds the libc10 that torch
    has loaded, wherever that is."""
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
        *([] if is_for_wheel else [f"-Wl,-rpath,{home / 'lib'}"]), "-o", str(to),
    ]  # fmt: skip


def build(into: Path | None = None) -> Path:
    """Compiles the plugin for the torch at hand in about ten seconds. Returns its path.

    ``into``: the folder `readers` of a wheel that is being built; else it is kept in
    the user's cache.

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
    path = shipped_path(into) if into else plugin_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with Progress("guardtree.torch") as progress:
            progress(f"{compiler} compiles the plugin for torch {torch.__version__}")
            words = command(compiler, fresh, into is not None)
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PluginError(
                f"{compiler} could not build the plugin:\n{done.stderr[-4000:]}"
            )
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return path
