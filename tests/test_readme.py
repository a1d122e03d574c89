"""The table of the README has the figures of the page that it links to."""

import re

ROW = re.compile(
    r"^\| (?P<peer>[\w, ]+?)(?: \([^)]*\))? \| (?P<gain>[+−][\d.]+)[^|]*"
    r"\| (?P<counts>[^|]+)\| (?P<times>[\d.]+) \|$"
)
COUNTS = re.compile(
    r"significantly better on (?P<better>\w+).*?; significantly worse on (?P<worse>\w+).*?; "
    r"no significant difference on (?P<level>\w+)"
)


def number(word):
    return 0 if word == "none" else int(word)


def test_peers_have_the_figures_of_the_page(request):
    root = request.config.rootpath
    page = (root / "docs/results/one_door.md").read_text(encoding="utf-8")
    found = re.search(r"\* Mean AUC of TableRanker minus others.*", page)[0]
    lines = (root / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [match for line in lines if (match := ROW.match(line))]
    assert {row["peer"] for row in rows} == {"LightGBM", "EBM", "skrub, boosting", "skrub, logistic regression"}
    for row in rows:
        peer = re.escape(row["peer"])
        assert re.search(rf"{peer} ([+-][\d.]+) \(", found)[1].replace("-", "−") == row["gain"]
        times = re.search(rf"over {peer}: median ([\d.]+),", page)[1]
        assert times == row["times"]
        told = COUNTS.search(re.search(rf"\* TableRanker against {peer}: .*", page)[0])
        counts = [number(told[name]) for name in ("better", "level", "worse")]
        assert [int(one) for one in re.findall(r"\d+", row["counts"])] == counts
