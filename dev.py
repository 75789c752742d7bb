"""From a fresh checkout to a result: installs what is missing, builds, runs one thing.

    python3 dev.py demo     the main job, on a release build
    python3 dev.py test     C++ tests (ctest), Python tests (pytest); --long: all
    python3 dev.py bench    the measurements, on a release build
    python3 dev.py docs     the documentation site, in build/docs; compiles nothing
    python3 dev.py build    nothing more

All it makes lies in build/. Arguments it does not know go to pytest, demo or bench.
CMakePresets.json says how to build; here is only what a machine needs before that.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import NoReturn, TextIO

ROOT = Path(__file__).resolve().parent
OLDEST, NEWEST = (3, 11), (3, 15)
PRESETS = ("dev", "release", "asan", "clang")

# What pip puts into the virtual environment. Of the second list, what the index has no
# wheel of for this Python (a very new one) is left out; the tests that want it skip.
TOOLS = ["pybind11>=3", "cmake>=3.25", "ninja", "scikit-build-core", "pytest"]
TOOLS += ["setuptools", "hypothesis", "rich"]
WHEELS_ONLY = ["numpy", "matplotlib", "coverage", "greenlet"]
WHEELS_ONLY += ["numba", "optree"]  # examples/
WHEELS_ONLY += ["mypy", "pyright"]  # what users check their programs' types with
DOCS = ["mkdocs-material", "mkdocstrings-python"]  # the site, from Markdown and stubs
WHEELS_ONLY += DOCS
TORCH = "torch==2.13.0"  # what --torch installs with pip
# On Debian's CPython 3.14, --torch installs Debian's torch instead.
DEBIAN_TORCH = ["python3-torch", "libtorch-dev"]
HELION = "helion==1.5.1"  # for an example, which needs none of its dependencies
TRITON = "triton==3.9.0"  # the launch path that guardtree.triton knows

# Debian's names of the libraries a command compiles against; CMake fetches absent ones.
LIBRARIES = {"demo": ["robin-map-dev"], "build": ["robin-map-dev"]}
LIBRARIES["bench"] = [*LIBRARIES["demo"], "libbenchmark-dev"]
LIBRARIES["test"] = [*LIBRARIES["bench"], "libgtest-dev", "libgmock-dev"]
COUNTERS = ["valgrind"]  # of instructions; the test that wants it skips without it
BROWSER = ["chromium"]  # for `test --long`: it is large; its tests skip without it

# What `test --long` sets: one name for tests that only run there or do more there, and
# how much the tests do that take a number. What is set already stays.
LONG = {
    "GUARDTREE_TEST_LONG": "1",
    "GUARDTREE_TEST_BREAKS": "all",
    "GUARDTREE_TEST_LIBRARY": "all",
    "GUARDTREE_TEST_CASES": "500000",
    "GUARDTREE_TEST_EXAMPLES": "2000",
    "GUARDTREE_TEST_TREES": "4000",
    "GUARDTREE_TEST_STEPS": "200000",
}

# Asked of the interpreter to build for, which may be older than the one that runs this.
PROBE = """
import json, os, sys, sysconfig
from importlib.util import find_spec
headers = [sysconfig.get_path(name) for name in ("include", "platinclude")]
minor = "%d.%d" % sys.version_info[:2]
debug = hasattr(sys, "gettotalrefcount")
print(json.dumps({
    "path": sys.executable,
    "identity": os.path.realpath(sys.executable) + " " + sys.version,
    "version": sys.version.split()[0],
    "minor": sys.version_info[:2],
    "name": minor + ("d" if debug else ""),
    "debug": debug,
    # Debian's, and so one that apt-get can complete.
    "package": "python" + minor if sys.base_prefix == "/usr" else "",
    "cpython": sys.implementation.name == "cpython",
    "gil": not sysconfig.get_config_var("Py_GIL_DISABLED"),
    "headers": any(os.path.isfile(os.path.join(h, "Python.h")) for h in headers),
    "ensurepip": bool(find_spec("venv") and find_spec("ensurepip")),
    "pip": bool(find_spec("venv") and find_spec("pip")),
}))
"""


class Interpreter(SimpleNamespace):
    """What one Python says of itself: the fields of PROBE."""


def say(text: str) -> None:
    print(f"dev.py: {text}", flush=True)


def give_up(text: str) -> NoReturn:
    sys.exit(f"dev.py: {text}")


def call(argv: list, failure: str = "", env: dict | None = None) -> int:
    """Shows and runs a command; its exit status, or with `failure`, the end."""
    argv = [str(word) for word in argv]
    print("+", shlex.join(argv), flush=True)
    status = subprocess.run(argv, cwd=ROOT, env=env).returncode
    if status != 0 and failure:
        give_up(failure)
    return status


def capture(argv: list) -> str:
    """What a command prints on stdout; empty when it fails or does not exist."""
    argv = [str(word) for word in argv]
    try:
        done = subprocess.run(argv, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def probe(path: str) -> Interpreter | None:
    """The interpreter at `path`; None when there is none, or one too old to answer."""
    answer = capture([path, "-c", PROBE])
    return Interpreter(**json.loads(answer)) if answer else None


def chosen_interpreter(path: str) -> Interpreter:
    """The interpreter to build for, or one sentence on why it cannot be."""
    found = probe(shutil.which(path) or path)
    wanted = "guardtree needs CPython {}.{} to {}.{}".format(*OLDEST, *NEWEST)
    if found is None:
        give_up(f"{wanted}; {path} does not run or is far older: pass --python PATH.")
    if not found.cpython or not OLDEST <= tuple(found.minor) <= NEWEST:
        give_up(f"{wanted}; {path} is {found.version}: pass --python PATH.")
    if not found.gil:
        give_up(f"{wanted} with the GIL; {path} is free-threaded: pass --python PATH.")
    return found


def is_installed(package: str) -> bool:
    ask = ["dpkg-query", "-W", "-f", "${db:Status-Status}", package]
    return capture(ask) == "installed"


def apt_prefix(may_ask: bool) -> list[str] | None:
    """What apt-get is called with: nothing, sudo; None where there is no right to."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo"):
        return None
    silent = subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0
    return ["sudo"] if silent or (may_ask and sys.stdin.isatty()) else None


def apt_install(packages: list[str], may_ask: bool = False) -> list[str]:
    """Installs Debian packages where that is possible; returns those still missing."""
    missing = [name for name in packages if not is_installed(name)]
    prefix = apt_prefix(may_ask) if missing else None
    if prefix is None:
        return missing
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    apt += ["-o", "DPkg::Lock::Timeout=300"]  # a new machine may be upgrading itself
    install = [*apt, "install", "-y", "--no-install-recommends"]
    call([*apt, "update"])
    if call([*install, *missing]) != 0:
        for name in missing:  # one name unknown here must not cost the others
            call([*install, name])
    return [name for name in missing if not is_installed(name)]


def needed_packages(python: Interpreter, preset: str) -> list[str]:
    """Debian packages this build lacks, found by probing: it may not be Debian."""
    needed = []
    if preset == "clang" and not shutil.which("clang++"):
        needed.append("clang")
    compilers = ["g++"] if preset == "asan" else ["c++", "g++", "clang++"]
    if not any(map(shutil.which, [os.environ.get("CXX", ""), *compilers])):
        needed.append("g++")
    parts = [] if python.headers else ["-dev"]
    parts += [] if python.ensurepip else ["-venv"]
    if parts and not python.package and not (python.headers and python.pip):
        give_up(
            f"{python.path} lacks C headers, venv or pip, and is not the system's: "
            "install its development files, or pass another --python PATH."
        )
    return needed + [python.package + part for part in parts if python.package]


def prepare_machine(args: argparse.Namespace, python: Interpreter) -> Interpreter:
    """Installs what is missing and looks again; a sentence where it may not."""
    apt_install(needed_packages(python, args.preset), may_ask=not args.ci)
    python = probe(python.path) or python
    missing = needed_packages(python, args.preset)
    if python.pip:  # then an environment can be made without Debian's -venv package
        missing = [name for name in missing if not name.endswith("-venv")]
    if missing:
        names = " ".join(missing)
        give_up(
            f"{names} missing, and no right to install it here: run "
            f"'apt-get install {names}' as root (or what your system has for it) first."
        )
    if args.command == "test":
        wanted = COUNTERS + (BROWSER if args.long else [])
        apt_install(wanted, may_ask=not args.ci)
    absent = apt_install(LIBRARIES[args.command], may_ask=not args.ci)
    if absent and shutil.which("dpkg"):
        say(f"note: without {' '.join(absent)}; CMake fetches the sources with git.")
    return python


def make_venv(python: Interpreter) -> Path:
    """The environment that has the tools, made anew when they or the Python changed."""
    home = ROOT / "build" / f"venv-{python.name}"
    program = home / "bin" / "python"
    stamp = home / "made-for.txt"
    made_for = "\n".join([python.identity, *TOOLS, *WHEELS_ONLY])
    if stamp.is_file() and stamp.read_text() == made_for and capture([program, "-V"]):
        return program
    shutil.rmtree(home, ignore_errors=True)
    make = [python.path, "-m", "venv", *([] if python.ensurepip else ["--without-pip"])]
    call([*make, home], f"{python.path} could not make the environment {home}.")
    # Without ensurepip (Debian's -venv package), the pip outside installs into it.
    pip = [program] if python.ensurepip else [python.path]
    pip += ["-m", "pip"] + ([] if python.ensurepip else ["--python", program])
    pip += ["--disable-pip-version-check", "install", "-q", "--prefer-binary"]
    call([*pip, *TOOLS], "pip could not install the build tools (see above).")
    for name in WHEELS_ONLY:
        if call([*pip, "--only-binary", ":all:", name]) != 0:
            say(f"note: no {name} for Python {python.version}; its tests are skipped.")
    stamp.write_text(made_for)
    return program


def add_torch(program: Path, python: Interpreter, env: dict, may_ask: bool) -> None:
    """torch and the reader that is built for it."""
    if python.package == "python3.14":
        add_debian_torch(program, python, may_ask)
    else:
        pip = [program, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        call([*pip, TORCH], f"pip could not install {TORCH} (see above).")
        helion = [*pip, "--no-deps", HELION]
        call(helion, f"pip could not install {HELION} (see above).")
    build = [program, "-m", "guardtree.torch", "build"]
    call(build, "the torch reader could not be built (see above).", env=env)


def add_debian_torch(program: Path, python: Interpreter, may_ask: bool) -> None:
    """Debian's torch: the environment sees Debian's packages after its own."""
    if missing := apt_install(DEBIAN_TORCH, may_ask):
        names = " ".join(missing)
        give_up(f"{names} missing: run 'apt-get install {names}' as root first.")
    packages = program.parents[1] / f"lib/python{python.name}/site-packages"
    (packages / "debian.pth").write_text("/usr/lib/python3/dist-packages\n")


def add_triton(program: Path) -> None:
    """triton: 286 MB to load and 1 GB on disk. Its tests need no GPU."""
    pip = [program, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    call([*pip, TRITON], f"pip could not install {TRITON} (see above).")


def jobs() -> int:
    """As many compilers at once as there are cores, and 2 GiB of memory for each."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(len(os.sched_getaffinity(0)), memory // 2**31))


def environment(program: Path, folder: Path, preset: str) -> dict[str, str]:
    """What runs see: the tools first on PATH, the built package importable."""
    env = dict(os.environ, PYTHONPATH=str(folder / "python"))
    env["PATH"] = f"{program.parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    env.pop("PYTHONHOME", None)
    if preset == "asan":
        env.setdefault("CXX", "g++")
    return env


def sanitized(env: dict[str, str]) -> dict[str, str]:
    """`env` for an interpreter that was not built with the sanitizers itself."""
    # libstdc++ too: ASan looks __cxa_throw up once, before the extension brings it.
    names = ("libasan.so", "libstdc++.so")
    libraries = [capture(["g++", f"-print-file-name={name}"]) for name in names]
    return dict(
        env,
        LD_PRELOAD=" ".join(os.path.realpath(library) for library in libraries),
        ASAN_OPTIONS="detect_leaks=0",  # CPython leaves memory behind at exit
        UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1",
        PYTHONMALLOC="malloc",  # pymalloc's arenas would hide what is freed
    )


def build(args: argparse.Namespace, python: Interpreter) -> tuple[Path, Path, dict]:
    """Configures and builds; the environment's Python, the build folder, how to run."""
    program = make_venv(python)
    folder = ROOT / "build" / f"{args.preset}-{python.name}"
    env = environment(program, folder, args.preset)
    # CMake keeps the headers and libraries it found: never those of another Python.
    stamp = folder / "made-for.txt"
    kept = stamp.is_file() and stamp.read_text() == python.identity
    tests = args.command == "test" and "cpp" not in args.without
    bench = args.command in ("test", "bench") and "bench" not in args.without
    settings = {
        "Python_EXECUTABLE": program,
        "pybind11_DIR": capture([program, "-m", "pybind11", "--cmakedir"]),
        "GUARDTREE_BUILD_PYTHON": "ON",
        "GUARDTREE_BUILD_TESTS": "ON" if tests else "OFF",
        "GUARDTREE_BUILD_BENCH": "ON" if bench else "OFF",
        "GUARDTREE_WERROR": "ON" if args.ci else "OFF",
        # Not with Clang, where a file that includes too little is to be noticed; what
        # users have and what is measured is compiled file by file.
        "GUARDTREE_PCH": "OFF" if args.preset == "clang" else "ON",
        "GUARDTREE_UNITY": "ON" if args.preset in ("dev", "asan") else "OFF",
    }
    if args.ci:
        settings["CMAKE_CXX_FLAGS_DEBUG"] = "-g1"  # lines are enough for a log
    configure = ["cmake", "--preset", args.preset, "-B", folder]
    configure += [] if kept else ["--fresh"]
    configure += [f"-D{name}={value}" for name, value in settings.items()]
    call(configure, "configuring failed (see above).", env=env)
    stamp.write_text(python.identity)
    call(["cmake", "--build", folder, "-j", jobs()], "the build failed.", env=env)
    return program, folder, sanitized(env) if args.preset == "asan" else env


# The line a test runner ends with: ctest's, or pytest's with or without its "=====".
CLOSING = re.compile(r"\d+% tests passed|No tests|=*\s*(no tests|\d+ \w+).* in [\d.]+s")


def begun(argv: list, env: dict[str, str], output: int | TextIO) -> subprocess.Popen:
    """A test runner, shown and started."""
    argv = [str(word) for word in argv]
    shown = shlex.join(argv)
    print("+", shown if len(shown) < 600 else f"{shown[:600]} ...", flush=True)
    return subprocess.Popen(
        argv,
        cwd=ROOT,
        env=env,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def passed_on(lines: Iterable[str]) -> str:
    """Prints a test runner's output; its closing line."""
    closing, skipped = "no closing line", 0
    for line in lines:
        print(line, end="", flush=True)
        skipped += "***Skipped" in line
        closing = line.strip("= \n") if CLOSING.match(line) else closing
    return closing + (f", {skipped} skipped" if skipped else "")


# Each line lists folders whose tests one pytest runs; a free core takes the next line.
# tests/bindings comes first, in two halves; all folders that are not listed come last.
SHARES = """
    growth hostile
    tensors launches
    dynamo
    framehook framelocals dsl capi
    typed docs browser out_of_memory
"""


def halves(names: list[str]) -> list[list[str]]:
    """Divides what is named between two pytests. A folder counts as its test files."""
    files = [
        str(file.relative_to(ROOT))
        for name in names
        for file in sorted((ROOT / name).glob("test_*.py")) or [ROOT / name]
    ]
    return [files[::2], files[1::2]]


def pytests(program: Path, rest: list[str]) -> list[list]:
    """The commands of several pytests, or of one or two if tests are named."""
    named = [word for word in rest if word.startswith("tests/")]
    options = [word for word in rest if word not in named]
    left_out = {word.removeprefix("--ignore=") for word in options}
    shares = halves(named or ["tests/bindings"])
    if not named:
        listed = [line.split() for line in SHARES.strip().splitlines()]
        shares += [[f"tests/{name}" for name in names] for names in listed]
        here = {name for share in shares[2:] for name in share} | {"tests/bindings"}
        shares += [["tests", *(f"--ignore={name}" for name in sorted(here))]]
    shares = [[word for word in share if word not in left_out] for share in shares]
    # Only Python's output is captured: the last words of a process that aborts are not.
    command = [program, "-m", "pytest", "--capture=sys"]
    return [[*command, *each, *options] for each in shares if each]


def test(
    program: Path, folder: Path, env: dict[str, str], rest: list[str], has_cpp: bool
) -> int:
    """Runs as many pytests at once as there are cores, and ctest beside them. It shows
    the first runner's output at once, and the others' when all are done."""
    ctest = ["nice", "ctest", "--test-dir", folder, "--output-on-failure"]
    ctest += ["--no-tests=error", "-j", jobs()]
    commands = [*([ctest] if has_cpp else []), *pytests(program, rest)]
    logs = [folder / f"tests-{number}.log" for number in range(1, len(commands))]
    statuses = [0] * len(commands)
    waiting = iter(range(1, len(commands)))

    def work() -> None:
        for number in waiting:
            with logs[number - 1].open("w") as stream:
                statuses[number] = begun(commands[number], env, stream).wait()

    workers = [Thread(target=work) for _ in range(jobs() - (not has_cpp))]
    for worker in workers:
        worker.start()
    first = begun(commands[0], env, subprocess.PIPE)
    said = [passed_on(first.stdout or ())]
    statuses[0] = first.wait()
    if not has_cpp:
        work()
    for worker in workers:
        worker.join()
    for log in logs:
        with log.open(errors="replace") as stream:
            said.append(passed_on(stream))
    names = ["ctest" if each is ctest else "pytest" for each in commands]
    print(*(f"\n{name}: {line}" for name, line in zip(names, said)), sep="", flush=True)
    none_collected = 5  # of pytest: -k may name tests of others
    failed = any(status not in (0, none_collected) for status in statuses)
    return 1 if failed or 0 not in statuses[has_cpp:] else 0


def docs(program: Path) -> int:
    """Gathers the pages and builds the site; any warning is an error."""
    site = ROOT / "docs/site"
    stage = [program, site / "stage.py", ROOT / "build/docs-pages"]
    call(stage, "the pages could not be gathered (see above).")
    mkdocs = [program, "-m", "mkdocs", "build", "--strict", "-f", site / "mkdocs.yml"]
    env = dict(os.environ, NO_MKDOCS_2_WARNING="1")  # its own news, no warning of ours
    call(mkdocs, "the site has defects (see above).", env=env)
    say(f"built build/docs; to read: {program} -m http.server -d build/docs")
    return 0


def main() -> int:
    summary = __doc__.split("\n")[0]
    parser = argparse.ArgumentParser(description=summary, allow_abbrev=False)
    parser.add_argument("command", choices=("demo", "test", "bench", "docs", "build"))
    parser.add_argument("--python", default=sys.executable, help="Python to build for")
    parser.add_argument("--preset", choices=PRESETS, help="one of CMakePresets.json")
    parser.add_argument("--torch", action="store_true", help="test with torch")
    parser.add_argument("--triton", action="store_true", help=f"test with {TRITON}")
    parser.add_argument("--ci", action="store_true", help="warnings fail, never ask")
    parser.add_argument("--long", action="store_true", help="test for an hour or more")
    what = "what not to build for tests: the C++ tests, or the benches"
    parser.add_argument(
        "--without", choices=("cpp", "bench"), action="append", default=[], help=what
    )
    args, rest = parser.parse_known_args()
    if args.long:
        os.environ.update({k: os.environ.get(k, v) for k, v in LONG.items()})
    preset = "release" if args.command in ("demo", "bench") else "dev"
    args.preset = args.preset or preset
    machines = ("x86_64", "aarch64")
    if not sys.platform.startswith("linux") or platform.machine() not in machines:
        give_up("guardtree runs on Linux x86-64 and, untested, on aarch64.")
    python = chosen_interpreter(args.python)
    if args.command == "docs":
        return docs(make_venv(python))
    python = prepare_machine(args, python)
    program, folder, env = build(args, python)
    if args.command == "build":
        say(f"built; PYTHONPATH={folder / 'python'} makes it importable.")
        return 0
    if args.torch:
        add_torch(program, python, env, may_ask=not args.ci)
    if args.triton:
        add_triton(program)
    if args.command == "test":
        return test(program, folder, env, rest, "cpp" not in args.without)
    words = {"demo": ["-m", "guardtree", "demo"], "bench": ["bench/run.py"]}
    return call([program, *words[args.command], *rest], env=env)


if __name__ == "__main__":
    sys.exit(main())
