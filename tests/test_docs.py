"""The pages of docs/: links, tables, the reference and the settings that they are built with."""

import ast
import importlib
import re
import runpy
import shlex
import sys
import tomllib
from types import SimpleNamespace

import pytest
from benchmarks.__main__ import PLACES, table

from guards.public_api import MODULES

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])-{1,2}[a-z][\w-]*")
#: Names that need PyTorch.
OTHER_NAMES = {
    "mbauc.objectives.torch.PairwiseAUCLoss",
    "mbauc.objectives.torch.pairwise_auc_loss",
}


@pytest.fixture(scope="module")
def root(request):
    return request.config.rootpath


@pytest.fixture(scope="module")
def extensions(root):
    """The modules of docs/_extensions, by name."""
    folder = root / "docs" / "_extensions"
    sys.path.insert(0, str(folder))
    yield {path.stem: importlib.import_module(path.stem) for path in folder.glob("*.py")}
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def reference(extensions):
    """The command reference."""
    return "\n".join(extensions["command_reference"].write_reference())


def find_pages(root):
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    return [page for page in pages if not {"_build", "gallery", "generated"} & set(page.parts)]


def find_anchors(text):
    """What links can point at: headings, as GitHub and the site spell them."""
    headings = re.findall(r"^#{1,6} +(.+?) *$", CODE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def find_source(page, target, root):
    """The file that a link leads to; guides are made of the programs in examples."""
    path = (page.parent / target).resolve()
    gallery = root / "docs" / "gallery"
    if gallery in path.parents:
        return root / "examples" / ("README.rst" if path.stem == "index" else f"{path.stem}.py")
    return path


def test_every_link_between_pages_leads_somewhere(root, reference):
    pages = find_pages(root)
    assert len(pages) > 30
    made = {root / "docs" / "reference" / "commands.md": find_anchors(reference)}
    broken, found = [], 0
    for page in pages:
        for target, anchor in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            if re.match(r"https?:", target) or not (target or anchor):
                continue
            found += 1
            path = find_source(page, target, root) if target else page
            if not path.exists():
                broken.append(f"{page.relative_to(root)}: {target}")
            elif anchor and path.suffix == ".md":
                anchors = find_anchors(path.read_text(encoding="utf-8")) | made.get(path, set())
                if anchor not in anchors:
                    broken.append(f"{page.relative_to(root)}: {target}#{anchor}")
    assert broken == []
    assert found > 100


def test_every_public_name_is_in_the_api_reference(root):
    documented = set()
    for page in (root / "docs" / "reference" / "api").glob("*.md"):
        module = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if named := re.match(r"\.\. (?:automodule|currentmodule):: (\S+)", line):
                module = named[1]
            elif named := re.match(r"   (\w+)$", line):
                documented.add(f"{module}.{named[1]}")
    names = set()
    for module in MODULES:
        loaded = pytest.importorskip(module, reason=f"{module} needs an extra")
        names |= {f"{module}.{name}" for name in loaded.__all__}
    # what two modules offer has one page
    pages = {id(locate(name)) for name in documented if name not in OTHER_NAMES}
    assert sorted(name for name in names - documented if id(locate(name)) not in pages) == []
    assert documented - names == OTHER_NAMES


def locate(name):
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def test_commands_and_options_are_in_the_reference(extensions, reference):
    from mbauc.cli import COMMANDS
    from mbauc.cli.main import whole_parser

    commands = whole_parser(extensions["command_reference"].Recorder).actions
    assert list(commands) == list(COMMANDS)
    for name, parser in commands.items():
        assert f"\n## mbauc {name}\n" in reference
        assert f"[`mbauc {name}`](#mbauc-{name})" in reference
        section = reference.split(f"\n## mbauc {name}\n")[1].split("\n## ")[0]
        for part in (parser, *parser.actions.values()):
            text = section.split(f"```{{program}} {part.prog}\n")[1].split("```{program}")[0]
            shown = set(OPTION.findall("\n".join(re.findall(r":::{option} (.*)", text))))
            # usage has one name of each option
            shown -= {"--out"} if "-o" in shown else set()
            assert shown == set(OPTION.findall(part.format_usage())) - {"-h"}
    assert {"list", "check", "download", "clicks"} == set(commands["data"].actions)
    assert "--l1 λ₁" in reference
    assert "--out FILE" in reference
    assert "mbauc fit logs/*.parquet --label fraud --weight times_seen --cv 5 -o model.mbauc" in reference


def test_code_of_pages_that_is_no_doctest_is_run_by_another_test(root):
    run_elsewhere = {"console": "commands.md", "python": "clusters.md"}
    found = [
        (page.name, language)
        for page in find_pages(root)
        for language, body in BLOCK.findall(page.read_text(encoding="utf-8"))
        if language in run_elsewhere and ">>> " not in body
    ]
    assert set(found) == {(page, language) for language, page in run_elsewhere.items()}


def test_commands_of_pages_and_guides_have_options_that_exist(root):
    from mbauc.cli.main import whole_parser

    blocks = [block for page in find_pages(root) for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    texts = [body for language, body in blocks if language in ("sh", "bash")]
    texts += [guide.read_text(encoding="utf-8") for guide in (root / "examples").glob("*.py")]
    lines = re.findall(r"^(?:#    )?mbauc (.*?)(?: > .*)?$", "\n".join(texts), re.MULTILINE)
    assert len(lines) > 30
    for line in lines:
        whole_parser().parse_args(shlex.split(line, comments=True))


def test_text_of_the_command_line_has_no_markup_of_its_own(extensions):
    command = extensions["command_reference"]
    assert command.inline("use 'mbauc fit' or --cross a*b_c") == r"use `mbauc fit` or `--cross` a\*b\_c"
    lines = list(command.write_text("One of:\n  --top   most\n          alarms\n  --at    a cut\nThe rest."))
    assert lines == [r"One of\:", "", "* `--top`: most alarms", "* `--at`: a cut", "", r"The rest\.", ""]


def test_formulas_are_mathml(extensions):
    from docutils import nodes

    convert = extensions["mathml"].convert
    half = convert(nodes.math("", r"\tfrac12 w^\top\Sigma w"), as_block=False)
    assert half == convert(nodes.math("", r"\tfrac{1}{2} w^\top\Sigma w"), as_block=False)
    assert half.startswith("<math")
    assert (half.count("<mfrac"), half.count("<mn>")) == (1, 2)
    assert 'display="block"' in convert(nodes.math_block("", r"\mu = m_{+} - m_{-}"), as_block=True)


def test_code_blocks_have_no_empty_lines_at_their_ends(extensions):
    from docutils import nodes
    from docutils.utils import new_document

    page = new_document("page")
    page += nodes.literal_block(">>> 1\n1\n\n", ">>> 1\n1\n\n")
    extensions["code_blocks"].strip_end(None, page)
    assert page.astext() == ">>> 1\n1"
    assert page[0].rawsource == ">>> 1\n1"


def test_numbers_in_tables_stay_on_one_line_with_their_errors(extensions):
    from docutils import nodes
    from docutils.utils import new_document

    page, text = new_document("page"), "● 88.50 ± 0.39 (88.64 ± 0.27)"
    page += [nodes.entry("", nodes.paragraph("", text)), nodes.paragraph("", text)]
    extensions["table_cells"].hold_together(None, page)
    assert page[0].astext() == "●\xa088.50\xa0±\xa00.39 (88.64\xa0±\xa00.27)"
    assert page[1].astext() == text


def test_pictures_of_guides_have_a_box_to_scroll_in(extensions):
    picture, own = '<img src="a.png" alt="a" class = "sphx-glr-single-img"/>', '<img src="b.png" alt="b"/>'
    context = {"body": f"<p>{own}</p>{picture}"}
    extensions["pictures"].put_into_boxes(None, "gallery/a", "page.html", context, None)
    assert context["body"] == f'<p>{own}</p><div class="picture" tabindex="0">{picture}</div>'


def test_figures_of_guides_have_titles_which_become_their_descriptions(root):
    untitled = []
    for guide in (root / "examples").glob("*.py"):
        for block in guide.read_text(encoding="utf-8").split("plt.show()")[:-1]:
            drawn = block[block.rindex("plt.subplots(") :]
            if not re.search(r"title[=(]|ContributionDisplay|ImportanceDisplay", drawn):
                untitled.append((guide.name, drawn))
    assert untitled == []


def test_links_beside_code_lead_to_the_page_of_a_name(extensions):
    from mbauc import MBAClassifier

    def page(name):
        return SimpleNamespace(docname=f"reference/generated/{name}", node_id=name)

    name = "mbauc.MBAClassifier.partial_fit"
    objects = {each: page(each) for each in ("mbauc.spark.MBAClassifier", "mbauc.MBAClassifier", name)}
    app = SimpleNamespace(
        env=SimpleNamespace(get_domain=lambda name: SimpleNamespace(objects=objects)),
        builder=SimpleNamespace(get_relative_uri=lambda here, there: f"{there}.html"),
    )
    block = '<div class="viewcode-block" id="MBAClassifier.{}">\n'
    link = '<a class="viewcode-back" href="{}">[docs]</a>'
    wrong = link.format(f"mbauc.spark.MBAClassifier.html#{name}")
    right = link.format(f"reference/generated/{name}.html#{name}")
    context = {"body": block.format("partial_fit") + wrong + block.format("fit") + wrong}
    path = "_modules/" + MBAClassifier.__module__.replace(".", "/")
    extensions["public_names"].link_sources_back(app, path, "page.html", context, None)
    # "fit" has no page here
    assert context["body"] == block.format("partial_fit") + right + block.format("fit")


def test_what_a_page_fetches_from_the_network_is_found(extensions, tmp_path):
    link, own = '<a href="https://example.org">', '<script src="_static/a.js"></script><link href="../b.css">'
    (tmp_path / "good.html").write_text(link + own)
    fetched = ('<script async src="https://example.org/a.js"', '<link rel="x" href="//example.org/b.css')
    for number, tag in enumerate(fetched):
        (tmp_path / f"bad{number}.html").write_text(own + tag + '">')
    found = list(extensions["offline"].find_fetched(tmp_path))
    assert [path.name for path, tag in found] == ["bad0.html", "bad1.html"]


def test_settings_of_the_site_name_extensions_that_are_here(root, extensions):
    settings = runpy.run_path(str(root / "docs" / "conf.py"))
    assert settings["nitpicky"]
    assert set(extensions) <= set(settings["extensions"])
    for name in settings["extensions"]:
        if name not in extensions:
            package = name.split(".")[0]
            pytest.importorskip(package, reason=f"{package} needs mbauc[docs]")


def test_start_page_names_the_tables_that_are_lost(root):
    found = re.search(
        r"against LightGBM at its defaults: .*?significantly worse on (\d+) \((.*?)\)",
        (root / "docs" / "results" / "tables.md").read_text(encoding="utf-8"),
    )
    start = " ".join((root / "docs" / "index.md").read_text(encoding="utf-8").split())
    names = found[2].split(", ")
    assert f"On {found[1]} of 16 tables, {' and '.join(names)}, LightGBM ranks significantly better" in start


@pytest.mark.parametrize("page", PLACES)
def test_tables_of_the_pages_are_those_of_the_stored_results(page, root):
    text = (root / page).read_text(encoding="utf-8")
    stale = [
        name for name in PLACES[page] if f"<!-- {name} -->\n\n{table(name)}\n\n<!-- end {name} -->" not in text
    ]
    assert stale == [], "python -m benchmarks render"


@pytest.mark.parametrize("name", MODULES)
def test_documented_modules_have_the_names_that_they_list(name):
    module = pytest.importorskip(name)
    assert module.__all__
    assert all(getattr(module, each).__doc__ for each in module.__all__)


def test_guides_import_what_the_docs_extra_installs(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def list_installed(requirements):
        for one in requirements:
            name, extras = re.match(r"([\w-]+)(?:\[([\w,-]+)\])?", one).groups()
            if name == "mbauc":
                for extra in extras.split(","):
                    yield from list_installed(project["optional-dependencies"][extra])
            yield {"scikit-learn": "sklearn"}.get(name, name)

    known = {
        *sys.stdlib_module_names,
        *list_installed(project["dependencies"]),
        *list_installed(["mbauc[docs]"]),
    }
    for guide in (root / "examples").glob("*.py"):
        body = ast.parse(guide.read_text(encoding="utf-8")).body
        # what a guide tries to import may be missing
        nodes = [node for one in body if not isinstance(one, ast.Try) for node in ast.walk(one)]
        names = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
        assert {name.partition(".")[0] for name in names} <= known, guide.name
