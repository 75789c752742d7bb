"""The build matrix: every CPython that can be had, both compilers, sanitizers, debug.

Each row is one call of dev.py: the first line of a row's log repeats that row.
An interpreter comes from this machine where it has one, else from a Debian root. A row
that could not be had is NOT RUN, never passed; a CPython version without a row fails.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from debian_root import CHECKOUT, DebianRoot, Unavailable, obtain  # noqa: E402

import dev  # noqa: E402

LOGS = ROOT / "build" / "ci"
ROOT_FOLDER = os.environ.get("GUARDTREE_CI_ROOT", "/var/tmp/guardtree-ci/forky")
VERSIONS = [f"3.{minor}" for minor in range(dev.OLDEST[1], dev.NEWEST[1] + 1)]
WHOLE_RUN = 82 * 60  # seconds; a slow machine needs more than an hour
ONE_ROW = 40 * 60  # what takes longer hangs
# Of tests/guards/random_trees_test.cpp, on each version. `dev.py test --long` has more.
RANDOM_CASES = "15000"


@dataclass(frozen=True)
class Row:
    """What to run: arguments of dev.py, the interpreter ("any": the oldest found).

    A row that cannot finish in the remaining time is skipped: NOT RUN."""

    name: str
    python: str
    arguments: tuple[str, ...]
    seconds: int
    """How long it takes on a slow machine with two cores."""
    by_name: bool = False
    """Run only where it is named: it does not fit into WHOLE_RUN."""


# Builds take most of the time, so no row builds what another one tests as well:
# - release-3.11 tests the build that users have; its C++ tests run in asan-3.11, with
#   assertions. demo and bench use the same build.
# - Clang compiles for one version, and GCC for the others.
# - asan-3.14 and debug leave out the C++ tests.
# - release-3.11 alone checks types, documentation, pages of reports, sources, wheels,
#   what benches print and `python -bb`: they are the same on each version.
ONCE = ("--ignore=tests/typed", "--ignore=tests/docs", "--ignore=tests/browser")
ONCE += ("--ignore=tests/house", "--ignore=tests/wheels")
ONCE += ("--ignore=tests/bindings/test_bench.py",)
ONCE += ("--ignore=tests/bindings/test_bytes_warning.py",)
GCC = ("test", "--without", "bench", *ONCE)
PYTHON_ONLY = (*GCC, "--without", "cpp")
ASAN = ("--preset", "asan")
# Without C++ that sanitizers could see, or most of it torch's, which an earlier row may
# have left in the environment; the last makes malloc fail by itself.
NO_CPP = ("--ignore=tests/bytecode", "--ignore=tests/tensors/test_compare_torch.py")
NO_CPP += ("--ignore=tests/dynamo", "--ignore=tests/out_of_memory")
# These two compile the torch plugin, which is slow with the sanitizers preloaded.
NO_CPP += ("--ignore=tests/bindings/test_progress.py",)
NO_CPP += ("--ignore=tests/tensors/test_torch_build.py",)
HOOK_AND_API = ("tests/bindings", "tests/framehook")

# Each version first: what does not fit into WHOLE_RUN is at the end.
ROWS = [
    Row(
        "release-3.11",
        "3.11",
        ("test", "--preset", "release", "--without", "cpp", "--torch", "--triton"),
        900,
    ),
    Row("gcc-3.15", "3.15", GCC, 340),
    Row("gcc-3.14", "3.14", (*GCC, "--torch"), 560),
    Row("gcc-3.12", "3.12", (*GCC, "--triton"), 480),
    Row("clang-3.13", "3.13", (*GCC, "--preset", "clang"), 450),
    Row("demo", "any", ("demo",), 30),
    Row("bench", "any", ("bench", "--smoke"), 60),
    Row("asan-3.11", "3.11", (*GCC, *ASAN, *NO_CPP), 680),
    Row("asan-3.14", "3.14", (*PYTHON_ONLY, *ASAN, *HOOK_AND_API), 480),
    Row("debug", "debug", (*PYTHON_ONLY, *HOOK_AND_API), 290, by_name=True),
]


@dataclass(frozen=True)
class Place:
    """An interpreter, and the Debian root it is in (None: on this machine)."""

    path: str
    version: str
    root: DebianRoot | None = None


@dataclass
class Outcome:
    """One line of the table."""

    row: Row
    version: str = "-"
    result: str = "NOT RUN"
    ctest: str = "-"
    pytest: str = "-"
    seconds: float = 0.0
    reason: str = ""


class Interpreters:
    """Finds interpreters, and makes the Debian root when the first row asks for it."""

    def __init__(self) -> None:
        self.root: DebianRoot | None = None
        self.no_root = ""

    def find(self, wanted: str) -> Place:
        """The interpreter for a row; Unavailable says why there is none."""
        if wanted == "debug":
            return self.debug()
        versions = VERSIONS if wanted == "any" else [wanted]
        for version in versions:
            place = native(version)
            if place:
                return place
        return self.in_root(f"python{versions[-1]}")

    def debug(self) -> Place:
        """Debian's debug interpreter: 3.11's beside bookworm's own, else the root's."""
        dev.apt_install(["python3.11-dbg"])
        found = dev.probe("python3.11-dbg")
        if found:
            return Place(found.path, f"{found.version} debug")
        place = self.in_root("python3.14-dbg")
        return Place(place.path, f"{place.version} debug", place.root)

    def in_root(self, package: str) -> Place:
        """An interpreter from the Debian root, whose package has the program's name."""
        try:
            if self.no_root:
                raise Unavailable(self.no_root)
            if self.root is None:
                self.root = obtain(Path(ROOT_FOLDER))
                self.root.copy_checkout(ROOT)
        except (Unavailable, OSError) as error:
            self.no_root = str(error)
            raise Unavailable(self.no_root) from error
        # Only what README asks of a machine: the rest is for dev.py to find missing.
        self.root.install("g++", package.replace("-dbg", ""), package)
        path = f"/usr/bin/{package}"
        version = self.root.quiet(
            path, "-c", "import sys; print(sys.version.split()[0])"
        )
        if not version:
            raise Unavailable(f"{package} does not start in the Debian root")
        return Place(path, version, self.root)


def native(version: str) -> Place | None:
    """This machine's release build of a version: pyenv's newest, else the PATH's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    paths = [str(path) for path in pyenv.glob(f"{version}.*/bin/python")]
    paths.sort(
        key=lambda path: [int(n) for n in re.findall(r"\d+", path)], reverse=True
    )
    for path in [*paths, f"python{version}"]:
        found = dev.probe(path)
        if not found or found.name != version or not found.cpython or not found.gil:
            continue  # a debug build's name is longer
        if found.headers or found.package:  # headers that apt-get can bring
            return Place(found.path, found.version)
    return None


def row_environment() -> dict[str, str]:
    """The environment without what would point a row at another Python's packages."""
    dropped = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if name not in dropped}
    if shutil.which("ccache"):
        env.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    return env


def row_command(row: Row, place: Place) -> list[str]:
    arguments = [*row.arguments, "--ci", "--python", place.path]
    if place.root is None:
        return [sys.executable, "dev.py", *arguments]
    return place.root.command(place.path, f"{CHECKOUT}/dev.py", *arguments)


def run(command: list[str], log: Path, limit: float) -> str:
    """Runs one row into its log; empty, or in a few words what went wrong.
    subprocess.TimeoutExpired if it takes longer than `limit` seconds."""
    with log.open("w") as stream:
        print("+", shlex.join(command), file=stream, flush=True)
        child = subprocess.Popen(
            command,
            cwd=ROOT,
            env=row_environment(),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = child.wait(limit)
            return f"exit status {status}" if status else ""
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def try_row(row: Row, interpreters: Interpreters, deadline: float) -> Outcome:
    """One row, from finding its interpreter to its line of the table."""
    outcome, start = Outcome(row), time.monotonic()
    print(f"== {row.name}", flush=True)
    try:
        place = interpreters.find(row.python)
        outcome.version = place.version
        limit = min(ONE_ROW, deadline - time.monotonic())
        if limit < row.seconds:
            raise Unavailable(f"{limit:.0f} s were left of the time for the whole run")
        log = LOGS / f"{row.name}.log"
        try:
            outcome.reason = run(row_command(row, place), log, limit)
            outcome.result = "FAILED" if outcome.reason else "passed"
        except subprocess.TimeoutExpired:
            outcome.reason = f"not done after {limit:.0f} s"
            # The end of the whole run's time says nothing of the row.
            outcome.result = "FAILED" if limit == ONE_ROW else "NOT RUN"
        text = log.read_text(errors="replace")
        if failed_ctests(text):  # also where the row was cut off later
            outcome.result = "FAILED"
        for runner in ("ctest", "pytest"):
            lines = re.findall(rf"^{runner}: (.*)$", text, re.M)
            said = [re.sub(r" in [\d.]+s.*", "", line) for line in lines]
            setattr(outcome, runner, " + ".join(said) or "-")
        if outcome.reason:
            shown = [*failed_ctests(text), *failed_pytests(text)]
            print("\n".join([*shown, *text.splitlines()[-60:]]))
    except Unavailable as error:
        outcome.reason = str(error)
    outcome.seconds = time.monotonic() - start
    note = f": {outcome.reason}" if outcome.reason else ""
    print(
        f"== {row.name} {outcome.result} ({outcome.seconds:.0f} s){note}\n", flush=True
    )
    return outcome


def failed_ctests(log: str) -> list[str]:
    """The first failed ctests with what they printed, which lies far up in a log, but
    not what GoogleTest says of tests that passed."""
    verdict = r"^ *\d+/\d+ Test +#\d+: .*\*\*\*(?!Skipped).*\n"
    output = r"(?:(?! *Start |.* Test +#).*\n)*"
    passed = r"^\[ RUN .*\n\[ +OK .*\n|^\[-+\].*\n|^\n"
    found = re.findall(verdict + output, log, re.M)[:5]
    return [re.sub(passed, "", each, flags=re.M)[:4000] for each in found]


def failed_pytests(log: str) -> list[str]:
    """What each pytest that failed printed last: its last failure, and the names of
    all. A row may run several, so that this can be far up in its log."""
    begin, end = r"^=+ (?:ERRORS|FAILURES) =+\n", r"=+ .*\b(?:errors?|failed)\b.* =+$"
    found = re.findall(rf"{begin}(?:(?!=+ test session).*\n)*?{end}", log, re.M)
    return [each[-4000:] for each in found]


def counts(outcome: Outcome) -> tuple[int, int, int]:
    """Tests passed, failed and skipped, as a row's runners say; else the row is one."""
    if outcome.result == "NOT RUN":
        return (0, 1, 0) if is_missing(outcome) else (0, 0, 1)
    said = {"passed": 0, "failed": 0, "error": 0, "skipped": 0, "xfailed": 0}
    for number, word in re.findall(r"(\d+) ([a-z]+?)s?\b", outcome.pytest):
        said[word] = said.get(word, 0) + int(number)
    # CMake 4 leaves the middle out where nothing failed.
    pattern = r"passed(?:, (\d+) tests? failed)? out of (\d+)(?:, (\d+) skipped)?"
    ctest = re.search(pattern, outcome.ctest)
    failed, total, skipped = (
        (int(n or 0) for n in ctest.groups()) if ctest else (0, 0, 0)
    )
    passed = total - failed - skipped + said["passed"]
    failed += said["failed"] + said["error"]
    skipped += said["skipped"] + said["xfailed"]
    # A row that broke before or beside its tests is one failure, so that 0 means none.
    failed += outcome.result == "FAILED" and failed == 0
    return passed, failed, skipped


def is_missing(outcome: Outcome) -> bool:
    """Whether the first row of a CPython version was not run."""
    python = outcome.row.python
    first = next(row for row in ROWS if row.python == python)
    return outcome.result == "NOT RUN" and outcome.row is first and python in VERSIONS


def print_table(outcomes: list[Outcome]) -> None:
    lines = [("row", "CPython", "result", "ctest", "pytest", "seconds")]
    for o in outcomes:
        last = f"{o.seconds:.0f}" + (f"  {o.reason}" if o.result == "NOT RUN" else "")
        lines.append((o.row.name, o.version, o.result, o.ctest, o.pytest, last))
    widths = [max(len(line[i]) for line in lines) for i in range(5)] + [0]
    for line in lines:
        print(
            "  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip()
        )


def main() -> int:
    names = sys.argv[1:]
    unknown = set(names) - {row.name for row in ROWS}
    if unknown:
        known = " ".join(row.name for row in ROWS)
        sys.exit(f".ci/run: no row {' '.join(sorted(unknown))}; there are: {known}")
    LOGS.mkdir(parents=True, exist_ok=True)
    # In our own environment: a Debian root copies it from there.
    os.environ.setdefault("GUARDTREE_TEST_CASES", RANDOM_CASES)
    deadline = time.monotonic() + WHOLE_RUN
    interpreters = Interpreters()
    wanted = [row for row in ROWS if row.name in names or not (names or row.by_name)]
    outcomes = [try_row(row, interpreters, deadline) for row in wanted]
    print_table(outcomes)

    ran = [o for o in outcomes if o.result != "NOT RUN"]
    versions = {o.version: None for o in ran}
    print(f"CPython versions run: {', '.join(versions) or 'none'}")
    missing = [o.row.python for o in outcomes if is_missing(o)]
    if missing:
        print(f"CPython versions missing: {', '.join(missing)}")
    passed, failed, skipped = map(sum, zip(*map(counts, outcomes)))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
