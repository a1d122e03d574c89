"""Run all benchmarks (``make bench``) and write their tables into the docs."""

import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.timing import RESULTS

PLACES = {
    "docs/results/speed.md": (
        "startup",
        "scoring",
        "dense",
        "cross_validation",
        "factorisations",
        "sparse_gram",
        "elastic_net",
        "auc",
        "readers",
        "libsvm",
        "products",
        "click_fit",
        "click_fit_wide",
        "criteo_size",
        "criteo_losses",
        "criteo_sample",
        "curves_size",
    ),
    "docs/user_guide/curves.md": ("curve_coverage", "screening"),
    "docs/user_guide/scale.md": ("preconditioners", "billion"),
    "docs/user_guide/clusters.md": (
        "clusters",
        "cluster_losses",
        "merge_tree",
        "cluster_volumes",
        "four_billion",
    ),
    "docs/user_guide/groups.md": ("groups",),
    "docs/results/coverage.md": ("coverage", "coverage_partial", "coverage_design", "coverage_groups"),
    "docs/user_guide/losses.md": ("pair_losses", "pairwise_fit"),
    "docs/user_guide/defaults.md": ("defaults", "automatic_penalty"),
    "docs/user_guide/objectives.md": ("boosting", "boosting_xgboost", "networks", "pair_batches"),
    "docs/results/rivals.md": ("rivals_speed", "rivals_cost", "rivals_quality", "rivals_defaults"),
}
#: Tables from the program of another.
BY_OTHERS = ("boosting_xgboost", "rivals_quality", "click_fit_wide", "coverage_partial", "coverage_design")
NAMES = tuple(name for names in PLACES.values() for name in names if name not in BY_OTHERS)
#: Tables with a head of their own.
WIDE = (
    "defaults",
    "automatic_penalty",
    "rivals_quality",
    "click_fit",
    "click_fit_wide",
    "criteo_sample",
    "pair_losses",
    *PLACES["docs/user_guide/curves.md"],
    *PLACES["docs/results/coverage.md"],
    *PLACES["docs/user_guide/objectives.md"],
)


def table(name):
    record = json.loads((RESULTS / f"{name}.json").read_text())
    rows = record["rows"]
    if name in WIDE:
        lines = [f"| {what} | {cells} |" for what, cells, _ in rows]
        lines.insert(1, "|---" * (rows[0][1].count("|") + 2) + "|")
    else:
        lines = ["| what | measured | target |", "|---|---|---|", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]
    machine = record["machine"]
    versions = ", ".join(f"{key} {value}" for key, value in machine["versions"].items())
    lines += ["", f"{machine['cpu']}, {machine['cores']} cores; Python {machine['python']}, {versions}."]
    return "\n".join(lines + [f"*{note}*" for note in record["notes"]])


def render():
    for path, names in PLACES.items():
        text = Path(path).read_text(encoding="utf-8")
        for name in names:
            if not (RESULTS / f"{name}.json").exists():
                continue
            start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
            before, rest = text.split(start)
            text = before + f"{start}\n\n{table(name)}\n\n{end}" + rest.split(end)[1]
        Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - {*NAMES, "render"}
    if unknown:
        sys.exit(f"usage: python -m benchmarks [{' | '.join(NAMES)} | render] …")
    for name in sys.argv[1:] or NAMES:
        if name != "render":
            import_module(f"benchmarks.{name}").run()
    render()
