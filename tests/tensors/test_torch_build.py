"""The torch part without torch, without a compiler, and where its plugin is kept."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import types
from typing import Any

import pytest
from guardtree import _guardtree


def run(*arguments: str, **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ, **environment),
    )


def test_without_torch_the_import_says_so() -> None:
    text = "import sys; sys.modules['torch'] = None; import guardtree.torch"
    done = run("-c", text)
    assert done.returncode == 1
    assert "ImportError: guardtree.torch needs torch: pip install torch" in done.stderr


def test_guards_need_no_torch() -> None:
    text = """
import sys
sys.modules['torch'] = None
import guardtree as gt
guards = gt.GuardManager(lambda x: None)
guards.local('x').tensor_match(gt.TensorSpec(ndim=1))
assert not guards.check({'x': [1]})
class Tensor:
    __module__ = 'torch'
try:
    guards.local('x').tensor_match(Tensor())
except TypeError as error:
    assert 'expected a tensor' in str(error), error
"""
    done = run("-W", "error", "-c", text)
    assert done.returncode == 0, done.stderr


def test_the_plugin_is_kept_in_the_cache(tmp_path: Any) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    done = run("-m", "guardtree.torch", "path", XDG_CACHE_HOME=str(tmp_path))
    assert done.stdout.startswith(f"{tmp_path}/guardtree/_plugin-")
    assert torch.__version__ in done.stdout


def test_without_a_compiler_the_build_says_so(tmp_path: Any) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    done = run(
        "-m", "guardtree.torch", "build",
        XDG_CACHE_HOME=str(tmp_path), CXX="", PATH="",
    )  # fmt: skip
    assert done.returncode == 1
    assert "no C++ compiler was found; install one" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_fails_shows_why_and_leaves_nothing(tmp_path: Any) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho this compiler is broken >&2\nexit 1\n")
    compiler.chmod(0o755)
    cache = tmp_path / "cache"
    done = run(
        "-m", "guardtree.torch", "build",
        XDG_CACHE_HOME=str(cache), CXX=str(compiler),
    )  # fmt: skip
    assert done.returncode == 1
    assert "could not build the plugin:\nthis compiler is broken" in done.stderr
    assert list((cache / "guardtree").iterdir()) == []


def test_a_reader_in_the_wheel_needs_no_compiler(tmp_path: Any) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    readers = tmp_path / "readers"
    done = run("-m", "guardtree.torch", "build", "--into", str(readers))
    assert done.returncode == 0, done.stderr
    (path,) = readers.iterdir()
    assert "+" not in path.name  # it serves torch for each kind of device
    text = f"""
from pathlib import Path
import guardtree as gt, guardtree.torch as gtt, torch
from guardtree.torch import builder
assert not gtt.has_plugin()
builder.SHIPPED = Path({str(readers)!r})
gtt._find()
assert gtt.plugin().__file__ == {str(path)!r}
guards = gt.GuardManager(lambda x: None)
guards.local('x').tensor_match(gt.TensorSpec(requires_grad=True))
assert guards.check({{'x': torch.zeros(2, requires_grad=True)}})
assert not guards.check({{'x': torch.zeros(2)}})
"""
    empty = str(tmp_path / "cache")
    done = run("-W", "error", "-c", text, XDG_CACHE_HOME=empty, CXX="", PATH="")
    assert done.returncode == 0, done.stderr


def test_a_reader_that_reads_otherwise_is_left_alone(tmp_path: Any) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    text = """
import warnings
import guardtree as gt, guardtree.torch as gtt, torch
from guardtree.torch import builder
builder.load = lambda: builder.verify(type('', (), {'reader': None}))
gtt.load, gtt._plugin = builder.load, None
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    gtt._find()
    gt.GuardManager(lambda x: None).local('x').tensor_match(torch.zeros(2))
(only,) = [str(each.message) for each in told if each.category is gtt.PluginWarning]
assert "the plugin reads {" in only, only
assert not gtt.has_plugin()
"""
    done = run("-c", text)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("state", ["", "default device", "inference", "fake tensors"])
def test_a_reader_is_verified_whatever_torch_is_set_to(state: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    gtt = pytest.importorskip("guardtree.torch")
    from guardtree.torch import builder

    if not gtt.has_plugin():
        pytest.skip("there is no reader for this torch")
    with contextlib.ExitStack() as scope:
        if state == "default device":
            scope.enter_context(torch.device("meta"))
        elif state == "inference":
            scope.enter_context(torch.inference_mode())
        elif state == "fake tensors":
            scope.enter_context(torch._subclasses.fake_tensor.FakeTensorMode())
        builder.verify(gtt.plugin())
        # Through DLPack nothing is known of gradients.
        with pytest.raises(builder.PluginError, match="'requires_grad': None.* where"):
            builder.verify(types.SimpleNamespace(reader=None))


def test_a_reader_of_another_version_is_refused() -> None:
    """A table that begins with another number; only its name is read further."""
    table = (ctypes.c_uint64 * 16)()
    name = ctypes.create_string_buffer(b"odd")
    table[0], table[2] = 7, ctypes.addressof(name)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule_name = b"guardtree.tensor_reader"
    capsule = make(ctypes.addressof(table), capsule_name, None)
    with pytest.raises(
        ImportError, match="'odd' has version 7, .*build it again"
    ):
        _guardtree.register_tensor_type(type("Odd", (), {}), capsule)
