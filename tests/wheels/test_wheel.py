"""Wheels: what the package tells installers, and a wheel in a clean Debian root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import guardtree as gt
import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
IS_LONG = bool(os.environ.get("GUARDTREE_TEST_LONG"))


def test_wheels_are_configured_for_every_supported_python() -> None:
    wheels = SETTINGS["tool"]["cibuildwheel"]
    names = [name for name in SETTINGS["project"]["classifiers"] if ":: 3." in name]
    wanted = [f"cp{name.split(':: ')[-1].replace('.', '')}-*" for name in names]
    assert wheels["build"] == wanted
    assert wheels["linux"]["archs"] == ["x86_64", "aarch64"]
    command = wheels["test-command"].split()[1]
    assert Path(command.format(project=ROOT)).is_file()


def test_cmake_finds_the_folder_that_the_entry_point_names() -> None:
    """scikit-build-core sets guardtree_ROOT to it; CMake looks into it for the file."""
    value = SETTINGS["project"]["entry-points"]["cmake.root"]["guardtree"]
    home = Path(gt.get_include()).parent
    folder = home.parent.joinpath(*value.split("."))
    assert (folder / "guardtree-config.cmake").is_file()


def test_the_headers_are_beside_the_extension() -> None:
    """In an editable install the Python files are elsewhere."""
    from guardtree import _guardtree

    home = Path(_guardtree.__file__).absolute().parent
    assert Path(gt.get_include()) == home / "include"
    assert (home / "include/guardtree.h").is_file()


def test_a_missing_robin_map_without_a_network_is_told(tmp_path: Path) -> None:
    alone = ["unshare", "--net"]
    if not (shutil.which("cmake") and shutil.which("ninja")):
        pytest.skip("there is no cmake or no ninja")
    if subprocess.run([*alone, "true"]).returncode:
        pytest.skip("there is no right to cut the network")
    done = subprocess.run(
        [
            *(*alone, "cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(tmp_path)),
            "-DGUARDTREE_DEVELOPER=OFF",
            "-DCMAKE_DISABLE_FIND_PACKAGE_tsl-robin-map=ON",
            f"-DPython_EXECUTABLE={sys.executable}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "tsl-robin-map is not installed, and git cannot reach" in said
    assert "apt-get install robin-map-dev" in said


@pytest.mark.skipif(not IS_LONG, reason="runs with dev.py test --long")
def test_a_repaired_wheel_works_in_a_clean_root() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci/wheels.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
