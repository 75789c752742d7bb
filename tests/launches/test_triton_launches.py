"""Launches of kernels that guardtree decides, with Triton's own run as the oracle."""

from __future__ import annotations

import os
import random
import threading

import pytest

triton = pytest.importorskip("triton", reason="needs triton")
if not triton.__version__.startswith("3.9."):
    pytest.skip("needs Triton 3.9", allow_module_level=True)

import kernels
import standin
import triton.language as tl
from guardtree import triton as guarded
from guardtree.triton import facts, launches
from standin import Pointer, chosen_by_triton, is_right, outcome
from triton import knobs
from triton.runtime.jit import JITFunction

CALLS = 10**6 if os.environ.get("GUARDTREE_TEST_LONG") else 30_000
NAME = "TRITON_FPSAN_HOMOMORPHIC_CASTS"

X, Y = Pointer(64, tl.float32), Pointer(4096, tl.float32)
CALL = (X, Y, 48, 0.5, 128)


@pytest.fixture(autouse=True)
def driver(monkeypatch):
    return standin.stand_in(monkeypatch)


def test_a_hit_launches_what_triton_launches():
    kernel = guarded.install(kernels.fresh())
    compiled = kernel[2, 3](*CALL)
    by_triton = compiled.launches[-1]
    again = kernel[2, 3](X, Y, rate=0.25, n=48, BLOCK=128)
    assert again is compiled
    assert compiled.launches[-1] == (*by_triton[:12], 0.25, 128, None)
    assert guarded.dispatcher_of(kernel).stats()["hits"] == 1
    kernel[lambda meta: (meta["n"] // 16, meta["BLOCK"])](*CALL)
    assert compiled.launches[-1][:3] == (3, 128, 1)
    assert guarded.dispatcher_of(kernel).stats()["hits"] == 2


INTS = [0, 1, 2, 15, 16, 17, -1, -16, *(
    base + more
    for base in (2**31, -(2**31), 2**63, -(2**63), 2**64)
    for more in (-16, -1, 0, 1, 16)
)]  # fmt: skip
DTYPES = [tl.float32, tl.float16, tl.int64]
CONSTANTS = [None, True, False, 0, 1, 16, 128, 1.5, -0.0, "a", "1", tl.float32, (1, 2)]


def random_argument(chance):
    return chance.choice(
        [
            Pointer(chance.choice([0, 8, 16, 24, 4096]), chance.choice(DTYPES)),
            chance.choice(INTS),
            chance.choice([None, True, False, 0.0, 1.0, 2.5, "text"]),
        ]
    )


def random_call(chance):
    """Most are of a few kinds, so most are hits."""
    if chance.random() < 0.95:
        pointers = [Pointer(chance.choice([16, 24]), DTYPES[0]) for _ in "xy"]
        pointers[1].dtype = chance.choice(DTYPES[:2])
        n, rate = chance.choice(INTS), chance.choice([0.5, 2])
        args = [*pointers, n, rate, chance.choice([64, 128])]
    else:
        args = [random_argument(chance) for _ in range(4)]
        args += [chance.choice(CONSTANTS), chance.choice(CONSTANTS)]
    options = {}
    if chance.random() < 0.1:
        options["num_warps"] = chance.choice([1, 4, 4.0])
    if chance.random() < 0.02:
        options = {"num_stages": 2, **options, "debug": chance.choice([True, False])}
    return args, options


def change_state(chance, monkeypatch, driver, kernel):
    """Changes what a launch reads beside its arguments, or changes it back."""
    what = chance.randrange(7)
    if what == 0:
        monkeypatch.setattr(knobs.runtime, "debug", chance.random() < 0.5)
    elif what == 1:
        mode = chance.choice(["", "fpsan"])
        monkeypatch.setattr(knobs.compilation, "instrumentation_mode", mode)
    elif what == 2:
        monkeypatch.setenv(NAME, chance.choice(["0", "1"]))
    elif what == 3:
        kernel.debug = chance.choice([None, True])
    elif what == 4:
        driver.device = chance.randrange(2)
    elif what == 5:
        factor = tl.constexpr(3) if chance.random() < 0.8 else tl.constexpr(4)
        monkeypatch.setattr(kernels, "FACTOR", factor)
    else:
        monkeypatch.setattr(kernels, "FACTOR", tl.constexpr(3))


def test_random_calls_never_find_another_kernel(monkeypatch, driver):
    chance = random.Random(27)
    kernel = guarded.install(kernels.fresh())
    for number in range(CALLS):
        if number % (CALLS // 40) == 0:
            change_state(chance, monkeypatch, driver, kernel)
        args, options = random_call(chance)
        assert is_right(kernel, args, options), (number, args, options)
    assert guarded.dispatcher_of(kernel).stats()["hits"] > CALLS // 3


def test_random_ints_that_are_not_specialised():
    chance = random.Random(28)
    kernel = guarded.install(kernels.fresh_unspecialised())
    for _ in range(CALLS // 10):
        ints = [chance.choice(INTS) for _ in "nmk"]
        assert is_right(kernel, [Pointer(chance.choice([8, 16]), tl.int8), *ints], {})
    assert guarded.dispatcher_of(kernel).stats()["hits"] > 0


def without(*names):
    """STATE without some of its parts."""
    return tuple(each for each in facts.STATE if each.__name__ not in names)


def int_guards(*kept):
    from guardtree import KeyPlan

    def guard(at, value, is_special, is_aligned):
        at.specialize(value, KeyPlan(ints=kept))

    return guard


def alignment_only(at, value, is_special, is_alignment):
    at.python(facts.is_unaligned if facts.is_unaligned(value) else facts.is_aligned)


def dtype_only(at, value, is_special, is_alignment):
    at.attr("dtype").id_match(value.dtype)


def nothing(*given):
    """In the place of what adds guards."""


def with_argument(index, value):
    return (*CALL[:index], value, *CALL[index + 1 :])


LEFT_OUT = {
    "dtype": ("guard_pointer", alignment_only, with_argument(0, Pointer(64, tl.int8))),
    "alignment": ("guard_pointer", dtype_only, with_argument(0, Pointer(8, X.dtype))),
    "type": ("guard_type", nothing, with_argument(3, True)),
    "one": ("guard_int", int_guards("divisible", "width"), with_argument(2, 1)),
    "divisible": ("guard_int", int_guards("one", "width"), with_argument(2, 47)),
    "width": ("guard_int", int_guards("one", "divisible"), with_argument(2, 2**40)),
    "constexpr": ("guard_constant", nothing, with_argument(4, 64)),
}


@pytest.mark.parametrize("fact", LEFT_OUT)
def test_each_fact_of_the_arguments_counts(monkeypatch, fact):
    name, changed, second = LEFT_OUT[fact]
    first = with_argument(2, 47) if fact == "one" else CALL
    for is_left_out in (False, True):
        if is_left_out:
            monkeypatch.setattr(facts, name, changed)
        kernel = guarded.install(kernels.fresh())
        assert is_right(kernel, first, {})
        assert is_right(kernel, second, {}) is not is_left_out


def test_options_count(monkeypatch):
    for is_left_out in (False, True):
        if is_left_out:
            monkeypatch.setattr(facts, "guard_options", nothing)
        kernel = guarded.install(kernels.fresh())
        assert is_right(kernel, CALL, {"num_warps": 4})
        assert is_right(kernel, CALL, {"num_warps": 8}) is not is_left_out
        assert is_right(kernel, CALL, {}) is not is_left_out


STATES = {
    "guard_debug": lambda patch, kernel: patch.setattr(knobs.runtime, "debug", True),
    "guard_instrumentation": lambda patch, kernel: patch.setattr(
        knobs.compilation, "instrumentation_mode", "fpsan"
    ),
    "guard_casts": lambda patch, kernel: patch.setenv(NAME, "1"),
    "guard_used_globals": lambda patch, kernel: patch.setattr(
        kernels, "FACTOR", tl.constexpr(4)
    ),
}


@pytest.mark.parametrize("fact", STATES)
@pytest.mark.parametrize("is_left_out", [False, True])
def test_each_fact_of_the_state_counts(monkeypatch, fact, is_left_out):
    if is_left_out:
        monkeypatch.setattr(facts, "STATE", without(fact))
    kernel = guarded.install(kernels.fresh())
    assert is_right(kernel, CALL, {})
    STATES[fact](monkeypatch, kernel)
    assert is_right(kernel, CALL, {}) is not is_left_out


def test_hooks_run_before_each_launch(monkeypatch):
    for is_left_out in (False, True):
        if is_left_out:
            monkeypatch.setattr(facts, "STATE", without("guard_hooks"))
        kernel = guarded.install(kernels.fresh())
        kernel[1,](*CALL)
        seen = []
        kernel.add_pre_run_hook(lambda *args, **options: seen.append(options))
        kernel[1,](*CALL)
        assert len(seen) == (not is_left_out)


@pytest.mark.parametrize("is_left_out", [False, True])
def test_devices_have_kernels_of_their_own(monkeypatch, driver, is_left_out):
    if is_left_out:
        monkeypatch.setattr(launches, "OTHER_KERNELS", "False")
    kernel = guarded.install(kernels.fresh())
    first = kernel[1,](*CALL)
    driver.device = 1
    assert (kernel[1,](*CALL) is first) is is_left_out
    assert is_right(kernel, CALL, {}) is not is_left_out
    driver.device = 0
    assert kernel[1,](*CALL) is first


@pytest.mark.parametrize("is_left_out", [False, True])
def test_caches_that_are_cleared_are_seen(monkeypatch, is_left_out):
    if is_left_out:
        monkeypatch.setattr(launches, "OTHER_KERNELS", "False")
    kernel = guarded.install(kernels.fresh())
    first = kernel[1,](*CALL)
    kernel.device_caches.clear()
    assert (kernel[1,](*CALL) is first) is is_left_out
    assert is_right(kernel, CALL, {}) is not is_left_out


def pointer_class():
    """A class of its own, which tests may change."""
    body = {name: vars(Pointer)[name] for name in ("__init__", "data_ptr")}
    return type("Changed", (), body)


@pytest.mark.parametrize("is_left_out", [False, True])
def test_the_method_of_a_class_counts(monkeypatch, is_left_out):
    if is_left_out:
        monkeypatch.setattr(facts, "guard_methods", nothing)
    kernel, kind = guarded.install(kernels.fresh()), pointer_class()
    call = (kind(64, tl.float32), *CALL[1:])
    assert is_right(kernel, call, {})
    kind.data_ptr = lambda self: 8
    assert is_right(kernel, call, {}) is not is_left_out


def test_a_method_of_one_object_counts():
    kernel, pointer = guarded.install(kernels.fresh()), pointer_class()(64, tl.float32)
    call = (pointer, *CALL[1:])
    assert is_right(kernel, call, {})
    pointer.data_ptr = lambda: 8
    assert is_right(kernel, call, {})
    assert is_right(kernel, call, {})
    assert len(guarded.dispatcher_of(kernel)) == 2


def test_pointers_whose_attributes_run_code():
    def attribute(self, name):
        odd = {"data_ptr": lambda: 8, "dtype": tl.int8}
        return odd.get(name) or object.__getattribute__(self, name)

    kind = pointer_class()
    slotted = type("Slotted", (), {
        "__slots__": (), "dtype": tl.float32, "data_ptr": lambda self: 8
    })  # fmt: skip
    kernel = guarded.install(kernels.fresh())
    for pointer in (kind(64, tl.float32), slotted()):
        assert is_right(kernel, (pointer, *CALL[1:]), {})
        assert is_right(kernel, (pointer, *CALL[1:]), {})
    kind.__getattribute__ = attribute
    assert is_right(kernel, (kind(64, tl.float32), *CALL[1:]), {})


def test_grids_are_kept_if_they_are_tuples_of_ints(monkeypatch):
    monkeypatch.setattr(launches, "GRIDS", 2)
    kernel = guarded.install(kernels.fresh())
    assert kernel[1, 2] is kernel[1, 2] and kernel[4,] is kernel[4,]
    assert kernel[3,] is not kernel[3,]  # there are two
    assert kernel[1, 2] is kernel[1, 2]
    compiled = kernel[1,](*CALL)
    for grid in ([5, 6], ([7], 8), (9.5,), lambda meta: (10, meta["n"])):
        kernel[grid](*CALL)
        found = compiled.launches[-1][:3]
        chosen_by_triton(kernel, *CALL, at=grid)
        assert found == compiled.launches[-1][:3]


@pytest.mark.parametrize("grid", [(2.0,), (True,), (1, 2.0), (1, 2, True), ()])
def test_a_grid_that_equals_a_kept_one_is_another(grid):
    kernel = guarded.install(kernels.fresh())
    for kept in ((2,), (1,), (1, 2), (1, 2, 1)):
        compiled = kernel[kept](*CALL)
    found = outcome(kernel[grid], *CALL)
    launched = compiled.launches[-1][:3]
    assert found == outcome(chosen_by_triton, kernel, *CALL, at=grid)
    assert [*map(repr, launched)] == [*map(repr, compiled.launches[-1][:3])]


def test_what_compiling_raises_reaches_the_caller(monkeypatch):
    kernel = guarded.install(kernels.fresh())

    def fail(*given):
        raise OSError("no compiler")

    with monkeypatch.context() as patch:
        patch.setattr(JITFunction, "_do_compile", fail)
        for _ in range(2):
            with pytest.raises(OSError, match="no compiler"):
                kernel[1,](*CALL)
    assert len(guarded.dispatcher_of(kernel)) == 0
    assert is_right(kernel, CALL, {})
    assert len(guarded.dispatcher_of(kernel)) == 1


def test_threads_that_miss_and_hit_at_once():
    kernel = guarded.install(kernels.fresh(), entry_limit=8)
    wrong, start = [], threading.Barrier(8)

    def launch(seed):
        chance = random.Random(seed)
        start.wait()
        for _ in range(300):
            args = with_argument(4, chance.randrange(2, 18))
            if kernel[1,](*args).key != chosen_by_triton(kernel, *args).key:
                wrong.append(args)

    threads = [threading.Thread(target=launch, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    stats = guarded.dispatcher_of(kernel).stats()
    assert stats["evicted"] > 0 and stats["hits"] > 0
    assert len(guarded.dispatcher_of(kernel)) <= 8


def test_install_twice_and_uninstall():
    kernel = kernels.fresh()
    kernel[1,](*CALL)  # Triton itself adds attributes
    before, kind = dict(vars(kernel)), type(kernel)
    assert guarded.install(kernel) is kernel
    dispatcher = guarded.dispatcher_of(kernel)
    assert guarded.dispatcher_of(guarded.install(kernel)) is dispatcher
    assert isinstance(kernel, JITFunction) and kernel.run(*CALL, grid=(1,), warmup=True)
    assert guarded.uninstall(kernel) is kernel is guarded.uninstall(kernel)
    assert type(kernel) is kind and vars(kernel) == before
    with pytest.raises(ValueError, match="scale is not installed"):
        guarded.dispatcher_of(kernel)


def test_what_cannot_be_served_is_refused_or_left_to_triton():
    with pytest.raises(TypeError, match="expected what @triton.jit returns, found int"):
        guarded.install(3)
    kernel = guarded.install(kernels.fresh())
    args = with_argument(3, (1, 2))
    for _ in range(2):
        assert is_right(kernel, args, {})
    assert len(guarded.dispatcher_of(kernel)) == 0
    made = vars(kernel)["_guardtree"]
    assert isinstance(made, launches.Installed)
    assert made.unserved == {"an argument of type tuple": 2}
