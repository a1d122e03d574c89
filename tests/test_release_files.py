"""The version, its date and the licence say the same wherever they stand."""

import re
import tomllib

import mbauc


def read(request, name):
    return (request.config.rootpath / name).read_text(encoding="utf-8")


def test_version_and_date_are_the_same_everywhere(request):
    project = tomllib.loads(read(request, "pyproject.toml"))["project"]
    version, date = re.search(
        r"^## ([\d.]+) \((\d{4}-\d\d-\d\d)\)$", read(request, "CHANGELOG.md"), re.MULTILINE
    ).groups()
    cited = dict(re.findall(r"^([\w-]+): (.+)$", read(request, "CITATION.cff"), re.MULTILINE))
    assert project["version"] == version == cited["version"]
    assert cited["date-released"] == date
    assert project["license"] == cited["license"]


def test_the_package_is_described_by_the_first_sentences_of_the_readme(request):
    first, rest = re.search(r"\n\*\*(.+?)\*\*\n(.+?)\n\n", read(request, "README.md"), re.DOTALL).groups()
    whole = f"{first} {' '.join(rest.split())}"
    assert tomllib.loads(read(request, "pyproject.toml"))["project"]["description"] == first
    assert f'abstract: "{whole}"' in read(request, "CITATION.cff").splitlines()
    assert " ".join(mbauc.__doc__.split()) == whole
    assert f"**{first}**" in read(request, "docs/index.md")


def test_the_first_lines_of_the_changelog_compare_with_no_version_that_nobody_had(request):
    first = read(request, "CHANGELOG.md").split("## 0.1.0", 1)[1].split("\n## ")[0]
    diary = re.findall(
        r"\*\*Changed\*\*|no longer|Before,|as before|used to|Rebuilt|they were|it was before", first
    )
    assert diary == []


def test_every_python_that_is_declared_is_tested(request):
    project = tomllib.loads(read(request, "pyproject.toml"))["project"]
    declared = {one.rsplit(" ", 1)[1] for one in project["classifiers"] if re.search(r":: 3\.\d+$", one)}
    tested = set(re.findall(r'"(3\.\d+)"', read(request, ".github/workflows/ci.yml")))
    assert declared == tested
    assert min(declared, key=lambda one: int(one[2:])) == project["requires-python"].removeprefix(">=")
