"""Gathers the pages of the site: the repository's Markdown, and pages of the API.

    python docs/site/stage.py TARGET

Pages stay where they are read on their own, beside what they describe; here each gets a
place in the site, and links follow. A link to another file of the repository leads to a
copy of it. A line `[path](link) prints` or `... reads` is followed by that file's text.
"""

from __future__ import annotations

import ast
import posixpath
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bindings/python/guardtree"

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "guards/REFERENCE.md": "reference-guards.md",
    "guards/assumptions/README.md": "assumptions.md",
    "dsl/README.md": "language.md",
    "framehook/BESIDE.md": "beside.md",
    "capi/examples/evaluator/README.md": "evaluator.md",
    "bindings/python/guardtree/bytecode/README.md": "bytecode-manual.md",
    "framelocals/cpython/README.md": "room-cpython.md",
    "tests/DEFECTS.md": "defects.md",
    **{
        f"{room}/README.md": f"room-{room}.md"
        for room in (
            "framelocals", "guards", "framehook", "capi", "bindings", "bench", "tests"
        )
    },
    **{f"docs/{page.name}": page.name for page in sorted((ROOT / "docs").glob("*.md"))},
}  # fmt: skip

# Every public name of guardtree, by the page that describes it.
API = {
    "api-trees.md": (
        "Trees",
        "A `GuardManager` builds, checks and inspects one tree of guards.",
        "GuardManager parse from_json GuardProfile ProfileRow GuardCheck GuardRelation "
        "GuardCounts AssumedGuards FactDifference Simplification TensorSpec",
    ),
    "api-tables.md": (
        "Tables and guarded functions",
        "Look-ups among many entries: your own, or those of one function's calls.",
        "Table TableEntry guard_function GuardedFunction",
    ),
    "api-dispatch.md": (
        "Dispatch",
        "Callables that compile on the first miss, and guards made from an example.",
        "Dispatcher MissedCall KeyPlan",
    ),
    "api-hook.md": (
        "The frame hook",
        "Callbacks, the entries of code objects, and the policies that they follow.",
        "set_eval_frame get_eval_frame optimize Callback Frame FrameState GuardedCode "
        "CacheEntry GuardFn ASK_AGAIN RAISE_ON_MISS Answer Mode DynamoFrameType "
        "is_generator cache_entries add_entry invalidate removed_entries reset_code "
        "skip_code run_only fail_code set_policy get_policy code_stats differences",
    ),
    "api-explanations.md": (
        "Explanations and reports",
        "Why a call passes or misses, in the terminal, in a file, in the browser.",
        "explain CacheExplanation EntryExplanation Explanation Failure report Report "
        "record_history History Event set_logs",
    ),
    "api-settings.md": (
        "Settings and errors",
        "What holds for the whole process, and the exceptions that guardtree raises.",
        "strict set_assumptions assumption_counts features get_include __version__ "
        "GuardMiss GuardSyntaxError StrictError",
    ),
}

ALIASES = """In signatures, `_Scope` is a function, a code object or a callback's frame,
`_Code` a function, a method or a code object, `_Subject` a mapping of local names or a
callback's frame, `_AnyCallback` a `Callback`, `None`, `False` or `RAISE_ON_MISS`."""

LINK = re.compile(r"`[^`]*`|(!?\[[^\]]*\]\()([^)\s]+)(\))")  # or code
SHOWN = re.compile(r"^\[([^\]]+)\]\(([^)]+)\) (?:prints|reads)$")
LANGUAGES = {".py": "python", ".h": "cpp", ".cpp": "cpp"}


def without_code(text: str) -> list[tuple[bool, str]]:
    """The lines of a page, each with whether it is prose."""
    lines, is_prose = [], True
    for line in text.splitlines():
        is_fence = line.lstrip().startswith("```")
        lines.append((is_prose and not is_fence, line))
        is_prose ^= is_fence
    return lines


class Site:
    """The folder of pages, and what was copied into it."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def place_of(self, path: str) -> str:
        """Where a file or folder of the repository is in the site."""
        for name in (path, posixpath.join(path, "README.md")):
            if name in PAGES:
                return PAGES[name]
        source = ROOT / path
        if not source.is_file():
            raise FileNotFoundError(f"a page links to {path}, which is no file")
        place = f"files/{path}"
        if source.suffix in (".h", ".cpp", ".py", ""):
            place += ".txt"  # browsers show it
        (self.target / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, self.target / place)
        return place

    def linked(self, line: str, folder: str) -> str:
        """A line of prose with its links as the site has them."""

        def leads(match: re.Match[str]) -> str:
            if not match[1]:
                return match[0]
            path, mark, anchor = match[2].partition("#")
            if not path or path.startswith(("http:", "https:")):
                return match[0]
            place = self.place_of(posixpath.normpath(posixpath.join(folder, path)))
            return f"{match[1]}{place}{mark}{anchor}{match[3]}"

        return LINK.sub(leads, line)

    def page(self, source: str, place: str) -> None:
        """One page of the repository."""
        folder = posixpath.dirname(source)
        lines = []
        for is_prose, line in without_code((ROOT / source).read_text()):
            shown = SHOWN.match(line) if is_prose else None
            lines.append(self.linked(line, folder) if is_prose else line)
            if shown:
                path = ROOT / folder / shown[2]
                language = LANGUAGES[path.suffix]
                text = path.read_text().rstrip().replace("\n", "\n    ")
                lines += ["", f'??? quote "{shown[1]}"']
                lines += [f"    ```{language}", f"    {text}", "    ```"]
        (self.target / place).write_text("\n".join(lines) + "\n")

    def write(self, place: str, *lines: str) -> None:
        (self.target / place).write_text("\n".join(lines) + "\n")


# Subpackages with names of their own: their title, and what the page says first.
SUBPACKAGES = {
    "bytecode": "[The manual](bytecode-manual.md) shows how the parts work together.",
    "torch": "Guards on torch's state, and the reader of torch tensors. "
    "[Tensors](tensors.md#torch) says how to build it.",
    "torch/dynamo": "torch.compile on guardtree. "
    "[The how-to](howto-torch-compile.md) shows how to try it.",
    "triton": "Triton kernels whose launches guardtree decides. "
    "[The how-to](howto-triton.md) says what is guarded and what it costs.",
}


def public_names(package: str = "") -> list[str]:
    """`__all__` of guardtree or of a subpackage, without importing it."""
    for node in ast.parse((PACKAGE / package / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise ValueError(f"guardtree/{package}/__init__.py has no __all__")


def api_pages(site: Site) -> None:
    """A page for each group of names, and the list of all of them."""
    index = {}
    for place, (title, introduction, names) in API.items():
        lines = [f"# {title}", "", introduction, "", ALIASES, ""]
        for name in names.split():
            lines += [f"::: guardtree.{name}", ""]
            index[name] = f"[`{name}`]({place}#guardtree.{name})"
        site.write(place, *lines)
    missing = sorted(set(public_names()) ^ set(index))
    if missing:
        raise ValueError(f"API in docs/site/stage.py and guardtree.__all__: {missing}")
    listed = [f"- {index[name]}" for name in sorted(index, key=str.lower)]
    intro = "Every public name of `guardtree`. The kinds and steps are listed in"
    intro += " [the reference of guards](reference-guards.md)."
    site.write("names.md", "# All names", "", intro, "", *listed)
    for package, words in SUBPACKAGES.items():
        dotted = package.replace("/", ".")
        lines = [f"# guardtree.{dotted}", "", words, ""]
        for name in public_names(package):
            lines += [f"::: guardtree.{dotted}.{name}", ""]
        site.write(f"api-{dotted.replace('.', '-')}.md", *lines)
    semantics = "The functions that the Python texts of guards are made of."
    site.write(
        "api-semantics.md", "# guardtree.semantics", "", semantics, "",
        "::: guardtree.semantics",
        "    options: {show_root_heading: false, show_submodules: false, "
        "filters: ['!^_', '!^TensorSpec$']}",  # it has a place in Trees
    )  # fmt: skip


def stage(target: Path) -> None:
    """Writes all pages, into an empty folder."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    site = Site(target)
    for source, place in PAGES.items():
        site.page(source, place)
    api_pages(site)
    shutil.copy(ROOT / "docs/site/site.css", target)


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
