"""From a code object to its syntax tree and back: find, rebuild, compile, verify."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any, cast

Function = ast.FunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
CARRIERS = (ast.stmt, ast.ExceptHandler, ast.match_case)  # nodes that statements are in
LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True)
class Located:
    """A function in its module: the statements around it, outermost first."""

    imports: tuple[ast.stmt, ...]  # the module's: they change how its code compiles
    path: tuple[ast.AST, ...]  # ends with the function

    @property
    def function(self) -> Function:
        return cast(Function, self.path[-1])

    def compiled(self, body: Sequence[ast.stmt], code: CodeType) -> CodeType | None:
        """The function with another body, compiled in its place; None if it is not
        found again. Only what decides the scopes of its names is compiled with it."""
        node: Any = copy.copy(self.function)
        node.body = list(body)
        for child, parent in zip(self.path[:0:-1], self.path[-2::-1], strict=True):
            node = _with_child(parent, child, node)
        module = ast.fix_missing_locations(ast.Module([*self.imports, node], []))
        with no_warnings():  # of "is" with a constant, which is meant here
            top = compile(module, code.co_filename, "exec", dont_inherit=True)
        return only([each for each in nested_code(top) if is_same_place(each, code)])


@contextmanager
def no_warnings() -> Iterator[None]:
    """Not catch_warnings(): that makes Python forget which warnings it has shown."""
    ignore = ("ignore", None, Warning, None, 0)
    filters: Any = warnings.filters
    filters.insert(0, ignore)
    try:
        yield
    finally:
        filters.remove(ignore)


def only(found: list[Any]) -> Any:
    """The one element of a list, or None."""
    return found[0] if len(found) == 1 else None


def is_same_place(one: CodeType, other: CodeType) -> bool:
    return (
        one.co_qualname == other.co_qualname
        and one.co_firstlineno == other.co_firstlineno
    )


def nested_code(code: CodeType) -> Iterator[CodeType]:
    """The code objects among a code object's constants, at any depth."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from nested_code(each)


def _with_child(parent: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    """A copy of `parent` with one child replaced; a class loses its other members."""
    made = copy.copy(parent)
    for name, value in ast.iter_fields(parent):
        if isinstance(value, list) and any(each is old for each in value):
            kept = [new if each is old else each for each in value]
            if isinstance(parent, ast.ClassDef):
                scoping = (ast.Global, ast.Nonlocal)
                kept = [x for x in kept if x is new or isinstance(x, scoping)]
            setattr(made, name, kept)
    return made


def locate(code: CodeType, module_globals: dict[str, Any]) -> Located | None:
    """Where the function was defined; None where that cannot be told for sure.

    The source must compile to the very code object: a file that was edited, another
    level of optimisation, or a test runner's rewriting are found out here.
    """
    if code.co_name == "<lambda>" or code.co_name.startswith("<"):
        return None
    for file in (code.co_filename, module_globals.get("__file__")):
        # Modules frozen into the interpreter have a file, but not in co_filename.
        found = _located(code, file) if isinstance(file, str) else None
        if found:
            return found
    return None


@lru_cache(maxsize=4096)
def _located(code: CodeType, file: str) -> Located | None:
    module = _parsed(file)
    if module is None:
        return None
    paths = [
        path
        for top in module.body
        for path in _paths(top, code.co_name)
        if _qualified(path) == code.co_qualname
        and _first_line(path[-1]) == code.co_firstlineno
    ]
    path = only(paths)
    if path is None:
        return None
    located = Located(tuple(_imports(module)), path)
    return located if located.compiled(located.function.body, code) == code else None


@lru_cache(maxsize=64)
def _parsed(file: str) -> ast.Module | None:
    try:
        with no_warnings():
            return ast.parse(Path(file).read_bytes(), file)
    except (OSError, SyntaxError, ValueError):
        return None


def _imports(node: ast.AST) -> Iterator[ast.stmt]:
    """Imports in the scope of the module itself, those of __future__ first."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            yield each
        elif isinstance(each, CARRIERS) and not isinstance(each, SCOPES):
            yield from _imports(each)


def _paths(node: ast.AST, name: str) -> Iterator[tuple[ast.AST, ...]]:
    """The ways down to every function of that name."""
    if isinstance(node, ast.FunctionDef) and node.name == name:
        yield (node,)
    for _, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else ():
            if isinstance(each, CARRIERS):
                for path in _paths(each, name):
                    yield (node, *path)


def _qualified(path: Sequence[ast.AST]) -> str:
    """The __qualname__ of the function at the end of a path."""
    scopes = [each for each in path if isinstance(each, SCOPES)]
    words: list[str] = []
    for each in scopes:
        words.append(each.name)
        if not isinstance(each, ast.ClassDef):
            words.append("<locals>")
    return ".".join(words[:-1])


def _first_line(node: ast.AST) -> int:
    function = cast(Function, node)
    decorators = function.decorator_list
    return min([function.lineno, *(each.lineno for each in decorators)])


def assigned(nodes: Sequence[ast.AST]) -> list[str]:
    """Names that the nodes may bind or delete, once for each place."""
    names: list[str] = []
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                names.append(each.id)
            elif isinstance(each, SCOPES):
                names.append(each.name)
            elif isinstance(each, ast.ExceptHandler):
                names += [each.name or ""] * 2  # bound, then deleted
            elif isinstance(each, ast.alias):
                names.append((each.asname or each.name).split(".")[0])
            elif isinstance(each, (ast.MatchAs, ast.MatchStar)):
                names.append(each.name or "")
            elif isinstance(each, ast.MatchMapping):
                names.append(each.rest or "")
    return names


def rebound_from_within(node: ast.AST) -> set[str]:
    """Names that a function inside `node` declares nonlocal, and so may rebind."""
    return {
        name
        for each in ast.walk(node)
        if isinstance(each, ast.Nonlocal)
        for name in each.names
    }


def is_stable_cell(located: Located, name: str) -> bool:
    """Whether a free variable is bound once in its life: by one argument, or by one
    assignment outside loops. Any second binding of the name around it refuses it."""
    owners = [each for each in located.path[:-1] if isinstance(each, ast.FunctionDef)]
    if not owners or name in rebound_from_within(owners[0]):
        return False
    nodes = list(ast.walk(owners[0]))
    arguments = [
        each for each in nodes if isinstance(each, ast.arg) and each.arg == name
    ]
    places = assigned([owners[0]]).count(name)
    looped = [each for each in nodes if isinstance(each, LOOPS)]
    return len(arguments) + places == 1 and name not in assigned(looped)
