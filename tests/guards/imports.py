"""The import contract: which module may import which. Imports in functions and under ``TYPE_CHECKING`` count.

``python tests/guards/imports.py --list`` prints the violations; without ``--list`` it writes them to
import_exceptions.txt, the known ones, to be deleted one by one.
"""

import ast
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent.parent / "src"
EXCEPTIONS = HERE / "import_exceptions.txt"
#: From the top: a module may import lower layers and its own folder, never a neighbour in the same layer.
LAYERS = (
    ("cli",),
    ("ranker",),
    ("report", "plots", "dask", "spark", "objectives"),
    ("model",),
    ("estimators",),
    ("features",),
    ("metrics", "solvers"),
    ("pairs", "readers"),
    ("losses", "basis"),
    ("rows",),
    ("store",),
    ("runtime",),
    ("checks", "defaults"),
    ("errors",),
)
#: May import everything; nothing else imports it.
ON_TOP = "paper"
#: Layers in which scikit-learn may be imported: the estimators and what is above them, and solvers for its
#: coordinate descent and its ConvergenceWarning.
WITH_SKLEARN = {name for layer in LAYERS[:6] for name in layer} | {ON_TOP, "solvers"}
#: Private by their spelling only: methods of named tuples, and what Spark's and Dask's own documentation has
#: everybody use to declare params, restore a stage and say what a partition looks like.
OPEN = {"_replace", "_asdict", "_fields", "_dummy", "_resetUid", "_meta"}


@cache
def modules():
    """Names of all modules, each with its tree."""
    found = {}
    for path in sorted((SOURCE / "mbauc").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


def home(module):
    """The folder or root module of the tree that a module belongs to; "" for the package itself."""
    inner = module.removeprefix("mbauc").removeprefix(".")
    if inner in ("", "__main__"):
        return ""
    return inner.partition(".")[0]


def imports(module, tree, found):
    """(module, name) of each import; the name is "" where the module itself is imported."""
    package = (
        module.split(".") if any(one.startswith(f"{module}.") for one in found) else module.split(".")[:-1]
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield (inner, "") if inner in found else (base, alias.name)


def private_uses(tree):
    """Private attributes of other objects than self that the module does not define itself."""
    own = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
            own.add(node.attr)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr) or node.attr in own:
            continue
        if not _is_self(node.value):
            yield f"{ast.unparse(node.value).splitlines()[0][:40]}.{node.attr}"


def _is_self(node):
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    return called or (isinstance(node, ast.Name) and node.id in ("self", "cls"))


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name not in OPEN


def violations():
    """Lines "kind: module -> what", sorted."""
    found = modules()
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    lines = set()
    for module, tree in found.items():
        here = home(module)
        if here and here not in level and here != ON_TOP:
            lines.add(f"unknown: {module} -> no layer for {here!r}")
        for target, name in imports(module, tree, found):
            if target.split(".")[0] == "sklearn" and here and here not in WITH_SKLEARN:
                lines.add(f"sklearn: {module} -> {target}")
            if target.split(".")[0] != "mbauc" or target == module:
                continue
            there = home(target)
            if is_private(name) or any(is_private(part) for part in target.split(".")):
                lines.add(f"private: {module} -> {target}.{name}")
            if here in ("", ON_TOP, there):
                continue
            if there == ON_TOP:
                lines.add(f"paper: {module} -> {target}")
            elif there == "" or level.get(there, -1) <= level.get(here, -1):
                lines.add(f"layer: {module} -> {target}")
        lines |= {f"private: {module} -> {use}" for use in private_uses(tree)}
    return sorted(lines | {f"cycle: {cycle}" for cycle in cycles(found, lines)})


def cycles(found, known):
    """Cycles among folders, then among modules, that are left when the known violations are taken out."""
    pairs = {
        (module, target)
        for module, tree in found.items()
        for target, _ in imports(module, tree, found)
        if target in found and target != module and home(module)
    }
    pairs = {(a, b) for a, b in pairs if not {f"layer: {a} -> {b}", f"paper: {a} -> {b}"} & known}
    folders = {(home(a), home(b)) for a, b in pairs if home(a) != home(b)}
    for edges in (folders, pairs):
        while cycle := _cycle(edges):
            yield " -> ".join(cycle)
            edges = edges - set(pairwise(cycle))


def _cycle(edges):
    graph = {}
    for a, b in sorted(edges):
        graph.setdefault(a, []).append(b)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # it names those that are imported first
        return error.args[1][::-1]
    return None


if __name__ == "__main__":
    text = "".join(f"{line}\n" for line in violations())
    if "--list" in sys.argv[1:]:
        print(text, end="")
    else:
        EXCEPTIONS.write_text(text, encoding="utf-8")
