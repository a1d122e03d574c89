import re

import pytest
from benchmarks.__main__ import PLACES, table

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_every_link_between_pages_leads_somewhere(request):
    root = request.config.rootpath
    pages = [root / "README.md", root / "ARCHITECTURE.md", *(root / "docs").rglob("*.md")]
    pages = [page for page in pages if not {"_build", "gallery", "generated"} & set(page.parts)]
    assert len(pages) > 5
    broken = [
        f"{page.relative_to(root)}: {target}"
        for page in pages
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not target.startswith("http") and not (page.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("page", PLACES)
def test_tables_of_the_pages_are_those_of_the_stored_results(page, request):
    text = (request.config.rootpath / page).read_text(encoding="utf-8")
    stale = [
        name for name in PLACES[page] if f"<!-- {name} -->\n\n{table(name)}\n\n<!-- end {name} -->" not in text
    ]
    assert stale == [], "python -m benchmarks render"


@pytest.mark.parametrize(
    "name",
    [
        "dask",
        "metrics",
        "metrics.neyman_pearson",
        "model",
        "model.export",
        "objectives",
        "paper.clicks",
        "paper.datasets",
        "paper.detection",
        "paper.rivals",
        "paper.theory",
        "plots",
        "readers",
        "report",
        "solvers",
        "spark",
    ],
)
def test_documented_submodules_have_the_names_that_they_list(name):
    module = pytest.importorskip(f"mbauc.{name}")
    assert module.__all__
    assert all(getattr(module, each).__doc__ for each in module.__all__)
