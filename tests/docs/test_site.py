"""The documentation site: it builds without a warning, its links lead somewhere, every
public name has a place in it, and no message names a file that a wheel lacks."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import guardtree as gt
import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs/site"
sys.path.append(str(SITE))

import stage  # noqa: E402

HAS_MKDOCS = all(map(importlib.util.find_spec, ("mkdocs", "material", "mkdocstrings")))
needs_mkdocs = pytest.mark.skipif(not HAS_MKDOCS, reason="mkdocs is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    stage.stage(folder / "pages")
    settings = (SITE / "mkdocs.yml").read_text()
    settings = settings.replace("../../build/docs-pages", str(folder / "pages"))
    settings = settings.replace("../../build/docs", str(folder / "html"))
    settings = settings.replace("../../bindings", str(ROOT / "bindings"))
    (folder / "mkdocs.yml").write_text(settings)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "mkdocs.yml"],
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "WARNING" not in said, said
    return folder / "html"


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.anchors.add(value)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text()) for path in site.rglob("*.html")}


@needs_mkdocs
def test_every_link_inside_leads_somewhere(pages: dict[Path, Page]) -> None:
    bad, seen = [], 0
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"(https?|data|mailto):", link) or path.name == "404.html":
                continue
            target, _, anchor = unquote(link).partition("#")
            found = (path.parent / target.split("?")[0]).resolve() if target else path
            found = found / "index.html" if found.is_dir() else found
            seen += 1
            if not found.is_file():
                bad.append(f"{path.name}: {link}")
            elif found in pages and anchor not in pages[found].anchors:
                bad.append(f"{path.name}: {link}, which has no such anchor")
    assert not bad and seen > 1000


@needs_mkdocs
def test_every_public_name_has_a_place_with_words(pages: dict[Path, Page]) -> None:
    anchors = {name for page in pages.values() for name in page.anchors}
    for name in gt.__all__:
        assert f"guardtree.{name}" in anchors, name
    for package in stage.SUBPACKAGES:
        for name in stage.public_names(package):
            dotted = package.replace("/", ".")
            assert f"guardtree.{dotted}.{name}" in anchors, name


@needs_mkdocs
def test_the_search_finds_every_public_name_and_every_guard(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text())
    text = "\n".join(each["title"] + each["location"] for each in index["docs"])
    for name in gt.__all__:
        assert name in text, name
    for name in ("type_match", "instance_attr", "distinct_objects"):
        assert name in text, name


@needs_mkdocs
def test_the_site_loads_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    for path in pages:
        text = path.read_text()
        loaded = re.findall(r'<(?:script|img)[^>]* src="(https?:[^"]*)', text)
        loaded += re.findall(r'<link rel="stylesheet" href="(https?:[^"]*)', text)
        assert not loaded, path.name


def test_every_page_of_the_repository_has_a_place() -> None:
    nav = (SITE / "mkdocs.yml").read_text()
    for page in sorted((ROOT / "docs").glob("*.md")):
        assert re.search(rf"\b{page.name}\n", nav), page.name
    rooms = {path.parent.name for path in ROOT.glob("[a-z]*/README.md")} - {"build"}
    assert not [room for room in rooms if f"{room}/README.md" not in stage.PAGES]


def test_a_page_that_links_to_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="docs/nowhere"):
        stage.Site(tmp_path).linked("[a](nowhere.md)", "docs")


def test_code_keeps_its_brackets(tmp_path: Path) -> None:
    lines = stage.without_code("a [b](c)\n```\n[x](y)\n```\nd")
    assert [is_prose for is_prose, _ in lines] == [True, False, False, False, True]


def strings_of(path: Path) -> str:
    """A source file without what stands behind # or //."""
    mark = r"#.*" if path.suffix == ".py" else r"//.*"
    return re.sub(mark, "", path.read_text())


def test_no_message_names_a_file_that_a_wheel_lacks() -> None:
    rooms = ("framelocals", "guards", "dsl", "framehook", "capi", "bindings")
    named = []
    for room in rooms:
        for path in (ROOT / room).rglob("*"):
            if path.suffix not in (".cpp", ".h", ".py", ".in"):
                continue
            if path.name in ("cpython.h", "derive.py", "__init__.pyi"):
                continue  # for those who build guardtree
            found = re.findall(r"\b(?:README|REFERENCE|BESIDE)\.md", strings_of(path))
            named += [path.relative_to(ROOT).as_posix()] if found else []
    assert not named
