"""Installing and uninstalling: every attribute comes back, and errors leave nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

if not gtt.has_plugin():
    pytest.skip("no plugin: python -m guardtree.torch build", allow_module_level=True)

import guardtree.torch.dynamo as gd  # noqa: E402
from guardtree.torch.dynamo import record  # noqa: E402
from torch._C._dynamo import guards as engine  # noqa: E402


def add_one(x: Any) -> Any:
    return x + 1


def attributes() -> dict[tuple[str, str], int]:
    """The identity of every attribute of Dynamo's modules, and of its classes."""
    found = {}
    for key, module in sys.modules.copy().items():
        if key.startswith(("torch._dynamo", "torch._C._dynamo", "torch.compiler")):
            if isinstance(module, ModuleType):
                found |= {(key, n): id(v) for n, v in vars(module).copy().items()}
    classes = [
        engine.GuardManager, engine.DictGuardManager, engine.RootGuardManager,
        torch._dynamo.guards.GuardManagerWrapper,
        torch._dynamo.guards.CheckFunctionManager,
        torch._dynamo.convert_frame.CatchErrorsWrapper,
    ]  # fmt: skip
    for kind in classes:
        found |= {(kind.__name__, n): id(v) for n, v in vars(kind).items()}
    return found


def settings() -> Any:
    config = torch._dynamo.config
    return gt.get_policy(), config.recompile_limit, config.accumulated_recompile_limit


def use() -> None:
    torch.compile(add_one, backend="eager")(torch.ones(2))


@pytest.mark.parametrize("limited", [True, False])
def test_uninstall_restores_every_attribute(limited: bool) -> None:
    use()  # What is imported or filled at the first use.
    torch._dynamo.reset()
    before, set_before = attributes(), settings()
    gd.install(recompile_limit=limited)
    assert attributes() != before
    use()
    gd.uninstall()
    after = attributes()
    changed = {key for key in before if after.get(key) != before[key]}
    # What Dynamo counts and keeps of the last compile by itself.
    own = {"FRAME_COUNTER", "curr_frame", "_CODE_STATE", "op_count"}
    assert {name for _, name in changed} <= own
    assert settings() == set_before
    assert gt.get_eval_frame() is None


def test_errors_of_install(monkeypatch: pytest.MonkeyPatch) -> None:
    gd.install()
    with pytest.raises(RuntimeError, match="installed already"):
        gd.install()
    gd.uninstall()
    gd.uninstall()
    with pytest.raises(RuntimeError, match=r"call install\(\)"):
        gd.report(torch.compile(add_one))
    for version in ("2.12.1", "2.16.0", "3.0.0+cu128"):
        with pytest.raises(gd.UnsupportedError, match="this is torch"):
            gd.internals.check_version(version)
    for version, python in (("2.13.0", (3, 14)), ("2.14.1", (3, 11))):
        with pytest.raises(gd.UnsupportedError, match=f"CPython {python[0]}"):
            gd.internals.check_version(version, python)
    with torch._dynamo.config.patch(caching_precompile=True):
        with pytest.raises(RuntimeError, match="caching_precompile"):
            gd.install()


def test_an_error_while_installing_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = attributes()
    steps = {k: v for k, v in record.STEPS.items() if k != "getattr_manager"}
    monkeypatch.setattr(record, "STEPS", steps)
    with pytest.raises(gd.LostError, match="getattr_manager is not known"):
        gd.install()
    assert attributes() == before


def test_install_inside_a_compiled_call() -> None:
    hook = torch._C._dynamo.eval_frame
    hook.set_eval_frame(False)  # As in code that runs cached entries.
    try:
        with pytest.raises(RuntimeError, match="is running"):
            gd.install()
    finally:
        hook.set_eval_frame(None)
    with gd.installed():
        use()


def test_uninstalled_in_the_middle() -> None:
    f = torch.compile(lambda x: x * 2, backend="eager")
    gd.install()

    @torch._dynamo.disable
    def stop() -> None:
        gd.uninstall()

    def program(x: Any) -> Any:
        x = x + 1
        stop()
        return x * 3

    out = torch.compile(program, backend="eager")(torch.ones(2))
    assert torch.equal(out, torch.full((2,), 6.0))
    assert gt.get_eval_frame() is None
    assert torch.equal(f(torch.ones(2)), torch.full((2,), 2.0))


def test_a_backend_that_raises() -> None:
    def broken(graph: Any, inputs: Any) -> Any:
        raise ArithmeticError("no")

    with gd.installed():
        with pytest.raises(Exception, match="no"):
            torch.compile(add_one, backend=broken)(torch.ones(2))
        assert gt.get_eval_frame() is None
        use()
    use()


def test_without_torch() -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import guardtree\n"
        "try: import guardtree.torch.dynamo\n"
        "except ImportError as error: assert 'pip install torch' in str(error)\n"
        "else: raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_modules_of_one_code_do_not_recompile() -> None:
    class Add(torch.nn.Module):
        def __init__(self, k: int) -> None:
            super().__init__()
            self.k = k

        def forward(self, x: Any) -> Any:
            return x + self.k

    count = 0

    def backend(graph: Any, inputs: Any) -> Any:
        nonlocal count
        count += 1
        return graph.forward

    many = 64 if os.environ.get("GUARDTREE_TEST_LONG") else 16
    with gd.installed(recompile_limit=False):
        models = [
            torch.compile(Add(k), backend=backend, dynamic=False) for k in range(many)
        ]
        for _ in range(3):
            for k, model in enumerate(models):
                assert model(torch.zeros(1)).item() == k
        assert count == many
        assert f"{many} entries" in str(gd.report(models[0]))
        assert "differ in" in str(gd.report(models[0]))


def test_the_blocks_of_the_pages_run(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).resolve().parents[2]
    for page in (root / "docs/howto-torch-compile.md", root / "README.md"):
        blocks = re.findall(r"^```py\n(.*?)^```", page.read_text(), re.M | re.S)
        assert blocks
        for block in blocks:
            exec(compile(block, str(page), "exec"), {"__name__": "page"})
            gd.uninstall()
    assert "differ in k: 1, 2" in capsys.readouterr().out


def test_a_reset_while_installed_forgets_what_torch_had_compiled() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(add_one, backend="eager")
    compiled(torch.ones(2))  # under torch's own hook
    assert engine_entries()
    with gd.installed():
        compiled(torch.ones(2))
        torch._dynamo.reset()
    assert not engine_entries()
    compiled = torch.compile(add_one, backend="eager")
    assert compiled(torch.ones(2, dtype=torch.float64)).dtype == torch.float64


def engine_entries() -> list[Any]:
    """What torch's own hook keeps of add_one."""
    listed = torch._C._dynamo.eval_frame._debug_get_cache_entry_list
    return list(listed(add_one.__code__))
