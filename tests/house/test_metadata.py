"""What the package says of itself: version, licence, extras, citation, issue forms."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = re.findall(
    r"project\(guardtree VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()
)[0]


def imported(folder: str) -> set[str]:
    """The top-level modules that the files of a folder import anywhere."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {each.name.split(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found


def test_the_citation_has_the_version_and_the_licence() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {VERSION}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
    assert "version" in PROJECT["dynamic"]  # it is CMakeLists.txt's


def test_the_licence_is_an_spdx_expression_with_files() -> None:
    assert PROJECT["license"] == "MIT"
    texts = [(ROOT / name).read_text() for name in PROJECT["license-files"]]
    assert "MIT License" in texts[0]
    assert not [each for each in PROJECT["classifiers"] if "License" in each]


def test_every_library_that_is_compiled_in_has_a_notice() -> None:
    notices = (ROOT / "NOTICES.txt").read_text()
    text = (ROOT / "CMakeLists.txt").read_text()
    fetched = re.findall(r"guardtree_dependency\(([\w-]+)", text)
    only_tests = {"GTest", "benchmark"}
    assert set(fetched) == {"tsl-robin-map", "pybind11", *only_tests}
    for name in ("robin-map", "pybind11"):
        assert re.search(rf"^{name}\n-+\nCopyright", notices, re.M), name


def test_each_extra_is_imported_by_what_it_is_for() -> None:
    extras = PROJECT["optional-dependencies"]
    package = imported("bindings/python")
    tests = imported("tests") | imported("bench") | imported("examples")
    assert set(extras["rich"]) <= package
    run_as_programs = {"mypy", "pyright", "coverage", "greenlet"}
    run_as_programs |= {"mkdocs-material", "mkdocstrings-python"}
    assert set(extras["test"]) - tests <= run_as_programs


def test_dev_py_installs_what_the_extra_for_tests_has() -> None:
    text = (ROOT / "dev.py").read_text()
    for name in PROJECT["optional-dependencies"]["test"]:
        assert f'"{name}"' in text, name


def test_every_issue_form_asks_for_a_program_or_a_meaning() -> None:
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) == 4
    for form in forms:
        text = form.read_text()
        assert form.name == "config.yml" or "required: true" in text, form.name
