"""The pages for contributors and the page of the theory name files, objects and commands that exist."""

import ast
import re
from functools import cache

import pytest
from benchmarks.__main__ import NAMES

INCLUDE = re.compile(r"```\{literalinclude\} (\S+)\n((?::[\w-]+:.*\n)*)")
PATH = re.compile(r"`((?:src|tests|docs|benchmarks|examples)/[^`\s]*)`")
#: Stands for a name that a reader chooses.
CHOSEN = "NAME"


def pages(root):
    found = [*sorted((root / "docs" / "contributing").glob("*.md")), root / "docs" / "theory.md"]
    assert len(found) > 8
    return {page: page.read_text(encoding="utf-8") for page in found}


@cache
def names_in(path):
    """Classes, functions and variables of a module, and the members of its classes with a dot."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        found |= names_of(node)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for inner in node.body for name in names_of(inner)}
            # pytest's spelling of a test in a class
            found |= {f"{node.name}::{name}" for inner in node.body for name in names_of(inner)}
    return found


def names_of(node):
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def exists(root, named):
    path, _, name = named.partition("::")
    if not (root / path).exists():
        return False
    return not name or name in names_in(root / path)


def test_what_pages_include_exists(request):
    found = {}
    for page, text in pages(request.config.rootpath).items():
        for target, options in INCLUDE.findall(text):
            wanted = re.search(r":pyobject: (\S+)", options)
            path = (page.parent / target).resolve()
            found[page.name, target, options] = path.is_file() and (
                wanted is None or wanted[1] in names_in(path)
            )
    assert len(found) > 10
    assert [place for place, good in found.items() if not good] == []


def test_what_pages_name_exists(request):
    root = request.config.rootpath
    named = {(page.name, each) for page, text in pages(root).items() for each in PATH.findall(text)}
    named = {(page, each) for page, each in named if CHOSEN not in each and "_build" not in each}
    assert len(named) > 100
    assert sorted(place for place in named if not exists(root, place[1])) == []


@pytest.mark.parametrize(
    "named",
    ["tests/no_such_file.py", "tests/reference.py::no_such_twin", "src/mbauc/losses/registry.py::LOSSES.name"],
)
def test_what_does_not_exist_is_seen(request, named):
    assert not exists(request.config.rootpath, named)
    assert exists(request.config.rootpath, "tests/reference.py::RunningClass.include")


def test_commands_on_the_pages_exist(request):
    root = request.config.rootpath
    text = "\n".join(pages(root).values())
    targets = set(re.findall(r"(?:^|`)make ([\w-]+)", text, flags=re.MULTILINE))
    assert "test-fast" in targets
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    assert [name for name in targets if f"\n{name}:" not in makefile] == []
    benchmarks = set(re.findall(r"python -m benchmarks (\w+)", text))
    assert benchmarks - {"render"}
    assert benchmarks <= {*NAMES, "render"}
