"""A Debian root with newer CPythons than the host: made by debootstrap, used by chroot.

Every command runs in a mount namespace of its own where the kernel allows one, so that
nothing stays mounted when a run is killed; without it, commands run without /proc.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import dev

SUITES = ("forky", "sid")
MIRROR = os.environ.get("GUARDTREE_CI_MIRROR", "http://deb.debian.org/debian")
SCRIPTS = Path("/usr/share/debootstrap/scripts")
CHECKOUT = Path("/srv/guardtree")  # inside the root
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PIP_CONFIGS = ("/etc/pip.conf", "~/.config/pip/pip.conf", "~/.pip/pip.conf")
PASSED_ON = re.compile(
    r"GUARDTREE_TEST_|PIP_|SSL_CERT_|REQUESTS_CA|CURL_CA|(https?|no|all)_proxy$", re.I
)

# A mirror may lag behind the clock by weeks; apt's own user may have no rights here.
APT_SETTINGS = """Acquire::Check-Valid-Until "false";
APT::Sandbox::User "root";
"""

# Its arguments: the root, folders to show inside it up to a lone "--", the command.
ENTER = """
root=$1; shift
mount -t proc proc "$root/proc" 2>/dev/null
mount --rbind /dev "$root/dev" 2>/dev/null
while [ "$1" != -- ]; do
    mkdir -p "$root$1" && mount --rbind -o ro "$1" "$root$1" 2>/dev/null
    shift
done
shift
exec chroot "$root" "$@"
"""


class Unavailable(Exception):
    """Why something could not be had, as a sentence for the table."""


class DebianRoot:
    """The folder that holds the root; it is kept from one run to the next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespace = mount_namespace()

    def command(self, *argv: str) -> list[str]:
        """The host command that runs `argv` inside, in the checkout's folder."""
        known = {
            "HOME": "/root",
            "LANG": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        known["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
        known.update((k, v) for k, v in os.environ.items() if PASSED_ON.match(k))
        inside = ["/usr/bin/env", "-i", "-C", str(CHECKOUT)]
        inside += [f"{name}={value}" for name, value in known.items()] + list(argv)
        if not self.namespace:
            return ["chroot", str(self.folder), *inside]
        folders = [str(folder) for folder in pip_folders()]
        enter = [*self.namespace, "sh", "-c", ENTER, "enter"]
        return [*enter, str(self.folder), *folders, "--", *inside]

    def run(self, *argv: str) -> bool:
        """Whether `argv` succeeds inside; what it prints is shown."""
        return subprocess.run(self.command(*argv)).returncode == 0

    def quiet(self, *argv: str) -> str:
        """What `argv` prints inside, empty when it fails or cannot be started."""
        done = subprocess.run(self.command(*argv), capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    def is_usable(self) -> bool:
        """Whether a shell and apt-get start inside."""
        (self.folder / CHECKOUT.relative_to("/")).mkdir(parents=True, exist_ok=True)
        return bool(self.quiet("apt-get", "--version"))

    def refresh(self) -> None:
        """Sets apt up, and copies what pip needs to reach the host's package index."""
        (self.folder / "etc/apt/apt.conf.d/90guardtree").write_text(APT_SETTINGS)
        shutil.copyfile("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        for name in PIP_CONFIGS:
            source = Path(name).expanduser()
            target = self.folder / name.replace("~", "root").lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_file():
                shutil.copyfile(source, target)
        bundle = self.folder / CERTIFICATES.relative_to("/")
        if CERTIFICATES.is_file() and bundle.parent.is_dir():
            shutil.copyfile(CERTIFICATES, bundle)

    def install(self, *packages: str) -> None:
        """Installs Debian packages inside; those that are there cost nothing."""
        ask = ("dpkg-query", "-W", "-f", "${db:Status-Status}")
        missing = [name for name in packages if self.quiet(*ask, name) != "installed"]
        if not missing:
            return
        self.run("apt-get", "-qq", "update")
        install = ("apt-get", "-qq", "install", "-y", "--no-install-recommends")
        if not self.run(*install, *missing):
            raise Unavailable(f"the Debian root has no package {' '.join(missing)}")

    def copy_checkout(self, source: Path) -> None:
        """Replaces the checkout inside by `source`: git's files, nothing built."""
        target = self.folder / CHECKOUT.relative_to("/")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        listing = ["git", "-C", source, "ls-files", "-z", "-co", "--exclude-standard"]
        for name in dev.capture(listing).split("\0"):
            if name and (source / name).is_file():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, target / name)


def mount_namespace() -> list[str]:
    """The command prefix for a private mount table; empty where that is refused."""
    prefix = ["unshare", "--mount"]
    try:
        done = subprocess.run([*prefix, "true"], capture_output=True)
    except OSError:
        return []
    return prefix if done.returncode == 0 else []


def pip_folders() -> list[Path]:
    """Local folders in which pip, as configured on the host, looks for packages."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True
    )
    named = [
        line for line in done.stdout.splitlines() if re.search("links|index", line)
    ]
    found = []
    for place in re.findall(r"(?:file://|(?<=[\s'=]))(/[^\s']+)", "\n".join(named)):
        folder = Path(place)
        # An index's pages name files beside it (`../../files/...`).
        folder = folder.parent if folder.name == "simple" else folder
        if folder.is_dir() and folder not in found:
            found.append(folder)
    return found


def discard(folder: Path) -> None:
    """Removes a half-made root, unless something is mounted in it."""
    mounts = Path("/proc/self/mounts").read_text().split("\n")
    if any(f" {folder}/" in line for line in mounts):
        raise Unavailable(
            f"{folder} has file systems mounted in it; unmount them first"
        )
    shutil.rmtree(folder, ignore_errors=True)


def make(folder: Path, suite: str) -> bool:
    """Runs debootstrap; the root appears under its name only when it is complete."""
    partial = folder.with_name(folder.name + ".partial")
    discard(partial)
    partial.parent.mkdir(parents=True, exist_ok=True)
    script = [] if (SCRIPTS / suite).exists() else [str(SCRIPTS / "sid")]
    options = ["--variant=minbase", "--include=ca-certificates"]
    call = ["debootstrap", *options, suite, str(partial), MIRROR, *script]
    if subprocess.run([*mount_namespace(), *call]).returncode != 0:
        return False
    partial.rename(folder)
    return True


def obtain(folder: Path) -> DebianRoot:
    """The cached root where it works, else a new one; Unavailable says why none."""
    if os.geteuid() != 0:
        raise Unavailable("a Debian root can be made and entered only as root")
    root = DebianRoot(folder)
    if not (folder / "usr/bin/apt-get").exists() or not root.is_usable():
        missing = dev.apt_install(["debootstrap", "debian-archive-keyring"])
        if not shutil.which("debootstrap"):
            raise Unavailable(f"debootstrap is not installed ({' '.join(missing)})")
        if folder.exists() and any(folder.iterdir()):
            raise Unavailable(f"{folder} holds no usable Debian root: remove it")
        if not any(make(folder, suite) and root.is_usable() for suite in SUITES):
            raise Unavailable(
                f"debootstrap gave no {' or '.join(SUITES)} from {MIRROR}"
            )
    root.refresh()
    return root
