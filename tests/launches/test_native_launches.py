"""The payload in C++ of launches: what it hands over, as Triton's own run does, above
drivers, tensors and launchers in C; deleted kernels; nothing is left behind."""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
import weakref

import pytest

triton = pytest.importorskip("triton", reason="needs triton")
if not triton.__version__.startswith("3.9."):
    pytest.skip("needs Triton 3.9", allow_module_level=True)

import kernels
import standin
import triton.language as tl
from guardtree import triton as guarded
from guardtree.triton import facts, launches
from standin import Pointer, chosen_by_triton
from triton import knobs
from triton.compiler.compiler import CompiledKernel, LazyDict
from triton.runtime import driver
from triton.runtime.jit import JITFunction

THREADS = 8
CALLS = 10**6 if os.environ.get("GUARDTREE_TEST_LONG") else 16_000
CALL = (Pointer(64, tl.float32), Pointer(4096, tl.float32), 48, 0.5, 128)


@pytest.fixture(autouse=True)
def active(monkeypatch):
    return standin.stand_in(monkeypatch)


def launch_and_compare(kernel, compiled, *args):
    """Whether guardtree and Triton hand the same to the launcher."""
    kernel[2, 3](*args)
    found = compiled.launches[-1]
    chosen_by_triton(kernel, *args, at=(2, 3))
    return found == compiled.launches[-1]


class OtherDriver(standin.StandInDriver):
    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 9


def other_driver(patch):
    patch.setattr(driver, "_active", OtherDriver())


def other_method(patch):
    patch.setattr(standin.StandInDriver, "get_current_stream", lambda self, at: 11)


def method_of_the_instance(patch):
    patch.setattr(driver.active, "get_current_stream", lambda at: 12)


def other_hook(patch):
    patch.setattr(knobs.runtime, "launch_enter_hook", knobs.HookChain())


def no_hook(patch):
    patch.setattr(knobs.runtime, "launch_exit_hook", None)


CHANGES = {
    other_driver: "guard_driver",
    other_method: "guard_driver",
    method_of_the_instance: "guard_driver",
    other_hook: "guard_launch_hooks",
    no_hook: "guard_launch_hooks",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_left_out", [False, True])
def test_each_fact_of_the_payload_counts(monkeypatch, change, is_left_out):
    if is_left_out:
        kept = [each for each in facts.LAUNCH if each.__name__ != CHANGES[change]]
        monkeypatch.setattr(facts, "LAUNCH", tuple(kept))
    kernel = guarded.install(kernels.fresh())
    compiled = kernel[1,](*CALL)
    assert launch_and_compare(kernel, compiled, *CALL)
    with monkeypatch.context() as patch:
        change(patch)
        assert launch_and_compare(kernel, compiled, *CALL) is not is_left_out
        assert launch_and_compare(kernel, compiled, *CALL) is not is_left_out
    assert launch_and_compare(kernel, compiled, *CALL)


def test_drivers_that_guards_cannot_follow_are_asked_each_time(monkeypatch):
    class Inherits(OtherDriver):
        pass

    monkeypatch.setattr(driver, "_active", Inherits())
    kernel = guarded.install(kernels.fresh())
    compiled = kernel[1,](*CALL)
    assert launch_and_compare(kernel, compiled, *CALL)
    monkeypatch.setattr(OtherDriver, "get_current_stream", lambda self, at: 13)
    assert launch_and_compare(kernel, compiled, *CALL)
    assert guarded.dispatcher_of(kernel).stats()["hits"] == 2


@pytest.fixture
def noted(monkeypatch):
    """Kernels of Triton's own class. What each launcher gets is noted here."""
    if standin.native() is None:
        pytest.skip("there is no C compiler")
    noted = []

    def compile_noting(self, key, *given):
        compiled = standin.compile_natively(self, key, *given)
        compiled._run = lambda *given: noted.append(given)
        return compiled

    standin.stand_in_natively(monkeypatch)
    monkeypatch.setattr(JITFunction, "_do_compile", compile_noting)
    return noted


def tensors():
    return [standin.native().Pointer(64 * at, tl.float32) for at in range(3)]


def test_hooks_get_the_metadata_that_triton_makes(noted):
    kernel = guarded.install(kernels.fresh())
    chain = knobs.runtime.launch_enter_hook
    for _ in range(3):
        kernel[1,](*CALL)
    assert noted[0][6].data["name"] == "scale"  # Triton's own launch
    assert noted[-1][6:9] == (None, None, None)  # nobody would see them
    chain.add(print)
    try:
        kernel[1,](*CALL)
        metadata, enter, leave = noted[-1][6:9]
        assert type(metadata) is LazyDict and metadata.data == noted[0][6].data
        assert (enter, leave) == (chain, knobs.runtime.launch_exit_hook)
    finally:
        chain.remove(print)
    kernel[1,](*CALL)
    assert noted[-1][6:9] == (None, None, None)
    assert guarded.dispatcher_of(kernel).stats()["hits"] == 4


def test_metadata_of_others_is_made_at_each_launch(monkeypatch, noted):
    kernel = guarded.install(kernels.fresh())
    compiled = kernel[1,](*CALL)
    compiled.launch_metadata = lambda *given: "of the kernel"
    kernel[1,](*CALL)
    assert noted[-1][6] == "of the kernel"
    del compiled.launch_metadata
    monkeypatch.setattr(CompiledKernel, "launch_metadata", lambda *given: "of all")
    kernel[1,](*CALL)
    assert noted[-1][6] == "of all"


def test_what_a_driver_or_launcher_raises_reaches_the_caller(monkeypatch):
    kernel = guarded.install(kernels.fresh())
    compiled = kernel[1,](*CALL)

    def fail(*given):
        raise OSError("no device")

    for owner, name in (
        (standin.StandInDriver, "get_current_device"),
        (standin.StandInDriver, "get_current_stream"),
        (standin.Compiled, "launch_metadata"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fail)
            with pytest.raises(OSError, match="no device"):
                kernel[1,](*CALL)
    for name in ("function", "packed_metadata"):
        with monkeypatch.context() as patch:
            patch.delattr(compiled, name)
            with pytest.raises(AttributeError, match=name):
                kernel[1,](*CALL)
    assert launch_and_compare(kernel, compiled, *CALL)


def test_random_launches_of_tensors_in_c(noted):
    chance = random.Random(29)
    kernel = guarded.install(kernels.fresh())
    make, dtypes = standin.native().Pointer, [tl.float32, tl.float16]
    for number in range(CALLS // 4):
        places = [chance.choice([0, 8, 64, 65]) for _ in "xy"]
        args = [make(place, chance.choice(dtypes)) for place in places]
        args += [chance.choice([1, 16, 17]), 0.5, chance.choice([64, 128])]
        assert kernel[1,](*args) is chosen_by_triton(kernel, *args), number
    stats = guarded.dispatcher_of(kernel).stats()
    assert stats["hits"] > CALLS // 5 and not stats["errors"]


def test_the_method_of_a_class_in_c_counts(monkeypatch, noted):
    for is_left_out in (False, True):
        if is_left_out:
            monkeypatch.setattr(facts, "guard_methods", lambda *given: None)
        kernel, kind = guarded.install(kernels.fresh()), standin.native().Pointer
        call = (kind(64, tl.float32), *CALL[1:])
        assert kernel[1,](*call) is chosen_by_triton(kernel, *call)
        with monkeypatch.context() as patch:
            patch.setattr(kind, "data_ptr", lambda self: 8)
            found = kernel[1,](*call) is chosen_by_triton(kernel, *call)
            assert found is not is_left_out


def test_a_deleted_kernel_runs_to_its_end(monkeypatch):
    """Its last reference goes while an entry of it launches."""
    kernel = guarded.install(kernels.fresh())
    started, goes_on = threading.Event(), threading.Event()

    def wait(*given):
        started.set()
        assert goes_on.wait(10)

    monkeypatch.setattr(standin.StandInDriver, "get_current_stream", wait)
    goes_on.set()
    compiled = kernel[1,](*CALL)
    goes_on.clear()
    started.clear()
    launch, seen, died = [kernel[1,]], [], weakref.ref(kernel)
    kernels.forget(kernel)
    del kernel
    thread = threading.Thread(target=lambda: seen.append(launch.pop()(*CALL)))
    thread.start()
    assert started.wait(10)
    gc.collect()
    goes_on.set()
    thread.join()
    assert seen == [compiled]
    gc.collect()
    assert died() is None


def test_many_launches_leave_nothing(monkeypatch):
    """Threads launch kernels that come and go, of which some do not compile."""

    class CompileError(Exception):
        pass

    def compile_some(self, key, *given):
        if "('constexpr', 7)" in key:
            raise CompileError
        return standin.compile_nothing(self, key, *given)

    monkeypatch.setattr(JITFunction, "_do_compile", compile_some)
    wrong: list[object] = []
    current = [guarded.install(kernels.fresh(), entry_limit=4)]

    def launch(seed, calls):
        chance = random.Random(seed)
        for number in range(calls):
            kernel, block = current[0], chance.randrange(4, 12)
            grid = (chance.randrange(1, 4),)
            try:
                found = kernel[grid](*CALL[:4], block)
                if f"('constexpr', {block})" not in found.key:
                    wrong.append((found.key, block))
            except CompileError:
                if block != 7:
                    wrong.append(block)
            if number % 400 == 399:
                kernels.forget(kernel)
                current[0] = guarded.install(kernels.fresh(), entry_limit=4)

    def run(calls):
        threads = [
            threading.Thread(target=launch, args=(seed, calls // THREADS))
            for seed in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()

    run(CALLS // 4)
    blocks = sys.getallocatedblocks()
    run(CALLS)
    assert not wrong
    assert sys.getallocatedblocks() - blocks < 2000
