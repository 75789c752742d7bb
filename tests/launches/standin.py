"""Triton below its own run method: a driver and a compiler that launch nothing."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import CompiledKernel
from triton.runtime import driver
from triton.runtime.jit import JITFunction


class StandInDriver:
    """Answers for a target; `device` is what a test sets."""

    device = 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return self.device

    def get_current_stream(self, device: int) -> int:
        return 7


class Compiled:
    """A kernel of Triton's cache that notes its launches."""

    numbers = itertools.count()

    def __init__(self, key: str) -> None:
        self.key = key
        self.number = next(self.numbers)
        self.function = self.number
        self.packed_metadata = SimpleNamespace()
        self.launches: list[tuple[Any, ...]] = []

    def launch_metadata(self, *given: Any) -> None:
        return None

    def run(self, *given: Any) -> None:
        self.launches.append(given)
        del self.launches[:-1]


def compile_nothing(
    self: Any,
    key: str,
    signature: Any,
    device: int,
    constants: Any,
    options: Any,
    attrs: Any,
    warmup: bool,
) -> Compiled:
    """In the place of JITFunction._do_compile: what is above it is Triton's own."""
    self.cache_key  # noqa: B018 - finds the used globals, as compiling does
    compiled = Compiled(key)
    self.device_caches[device][0][key] = compiled
    return compiled


def stand_in(patch: Any) -> StandInDriver:
    """Sets both; `patch` is a MonkeyPatch."""
    made = StandInDriver()
    patch.setattr(driver, "_active", made)
    patch.setattr(JITFunction, "_do_compile", compile_nothing)
    return made


class Pointer:
    """A stand-in for a tensor: an address and a dtype."""

    def __init__(self, address: int, dtype: Any) -> None:
        self.address = address
        self.dtype = dtype

    def data_ptr(self) -> int:
        return self.address


def chosen_by_triton(kernel: Any, *args: Any, at: Any = (1,), **options: Any) -> Any:
    """The kernel that Triton's own run chooses for a grid: the oracle."""
    return triton.runtime.jit.JITFunction.run(
        kernel, *args, grid=at, warmup=False, **options
    )


def outcome(call: Any, *args: Any, **options: Any) -> Any:
    """What a launch returns, or the exception that it raises, as a text."""
    try:
        return call(*args, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def is_right(kernel: Any, args: Any, options: Any = None) -> bool:
    """Whether both choose the same kernel, or raise the same."""
    options = options or {}
    found = outcome(kernel[1,], *args, **options)
    expected = outcome(chosen_by_triton, kernel, *args, **options)
    return found is expected or (isinstance(found, str) and found == expected)


HERE = Path(__file__).resolve().parent


@functools.cache
def native() -> Any:
    """native_standin.c as a module, or None without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/native_standin{sysconfig.get_config_var('EXT_SUFFIX')}"
        command = [compiler, "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
        command += ["-isystem", sysconfig.get_path("include"), "-o", path]
        subprocess.run([*command, str(HERE / "native_standin.c")], check=True)
        spec = importlib.util.spec_from_file_location("native_standin", path)
        if spec is None or spec.loader is None:
            raise ImportError(path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


class NativeDriver(StandInDriver):
    """Answers in C, which a driver has as attributes, as Triton's own does."""

    def __init__(self) -> None:
        vars(self)["get_current_device"] = native().get_current_device
        vars(self)["get_current_stream"] = native().get_current_stream


def compile_natively(self: Any, key: str, *given: Any) -> CompiledKernel:
    """A kernel of Triton's own class, whose launcher is in C."""
    self.cache_key  # noqa: B018 - finds the used globals, as compiling does
    compiled: Any = CompiledKernel.__new__(CompiledKernel)
    compiled.name, compiled.src, compiled.metadata = self.__name__, None, None
    compiled.module, compiled._module_pid = object(), None
    compiled.function, compiled.packed_metadata = 1, (1, 2, 3)
    compiled._run = native().launch
    device = given[1]
    self.device_caches[device][0][key] = compiled
    return compiled


def stand_in_natively(patch: Any) -> None:
    """As `stand_in`, all in C as on a GPU."""
    patch.setattr(driver, "_active", NativeDriver())
    patch.setattr(JITFunction, "_do_compile", compile_natively)
