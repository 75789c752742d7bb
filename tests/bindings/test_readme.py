"""The pages for readers: Python blocks run as they stand, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP = [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG")]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", *TOP, *DOCS]


def blocks_of(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_runs_and_prints_what_is_shown(page: Path, capsys) -> None:
    text = page.read_text()
    for block in blocks_of(text, "python"):
        exec(compile(block, str(page), "exec"), {"__name__": "readme"})
    printed = capsys.readouterr().out
    for shown in blocks_of(text, "text"):
        assert shown in printed


def test_the_readme_has_an_example_of_each_way_in() -> None:
    blocks = blocks_of(PAGES[0].read_text(), "python")
    for way in ("guard_function", "Table", "optimize"):
        assert any(f"gt.{way}(" in block for block in blocks)


def anchor_of(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    code = r"^```.*?^```$|`[^`\n]*`(?!\])"
    text = re.sub(code, "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)", found.read_text(), re.M)
            assert anchor in map(anchor_of, headings), target


def test_the_readme_names_the_pages_of_the_project() -> None:
    text = PAGES[0].read_text()
    for page in TOP:  # the site names those of docs/: tests/docs
        assert f"({page.name})" in text
    assert len(text.splitlines()) <= 150
