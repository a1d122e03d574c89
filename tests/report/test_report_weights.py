"""What a page says of weights is what scores do."""

import re
from html import unescape

import numpy as np
import pytest
from report_cases import make_model, make_rows

from mbauc import MBAClassifier
from mbauc.model import RankerModel, TableLayout, save_model
from mbauc.report import report_html

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")
UNIT = "change of the score per unit of its column"


def trained(tmp_path, scale):
    from mbauc.readers import TableSource

    rng = np.random.default_rng(0)
    seconds, site = rng.gamma(1.5, 200, 400) + 30, rng.integers(3, size=400)
    y = rng.random(400) < 1 / (1 + np.exp(2.5 - seconds / 200 - (site == 1)))
    path = tmp_path / "calls.csv"
    rows = zip(y, seconds, site, strict=True)
    path.write_text("y,seconds,site\n" + "".join(f"{int(a)},{b:.3f},s{c}\n" for a, b, c in rows))
    source = TableSource(path, label="y", encode="onehot", scale=scale)
    ranker = MBAClassifier(l2=0.1).fit_source(source)
    return RankerModel.of(ranker, TableLayout(source.encoding, "y"), source.classes)


def shown_weights(model):
    y, s = make_rows(200, 0.3)
    html = report_html(y, s, model=model).partition('id="weights"')[2].partition("</section>")[0]
    cells = {}
    for row in re.findall(r"<tr>(.*?)</tr>", html)[1:]:
        texts = [unescape(re.sub("<.*?>", "", part)) for part in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)]
        cells[texts[0]] = [float(text.replace("−", "-")) for text in texts[2:] if text]
    return html, cells


def change(model, one, other):
    columns = {name: [a, b] for name, a, b in zip(("seconds", "site"), one, other, strict=True)}
    first, second = model.score(model.layout.encoding.transform(columns))
    return float(second - first)


@pytest.mark.parametrize("scale", ["standard", "max-abs"])
def test_the_weight_of_a_scaled_number_is_not_for_one_unit(tmp_path, scale):
    model = trained(tmp_path, scale)
    html, weights = shown_weights(model)
    weight, per_unit = weights["seconds"]
    assert UNIT not in html
    assert "Per unit" in html
    assert ("one standard deviation" in html) == (scale == "standard")
    assert per_unit == pytest.approx(change(model, (100.0, "s1"), (101.0, "s1")), rel=1e-3)
    size = model.layout.encoding.features[0].scale
    assert weight == pytest.approx(change(model, (100.0, "s1"), (100.0 + size, "s1")), rel=1e-3)
    (weight,) = weights["site=s1"]
    assert weight == pytest.approx(change(model, (100.0, "new"), (100.0, "s1")), rel=1e-3)


def test_the_weight_of_a_plain_number_is_for_one_unit(tmp_path):
    model = trained(tmp_path, None)
    html, weights = shown_weights(model)
    assert UNIT in html
    assert "Per unit" not in html
    (weight,) = weights["seconds"]
    assert weight == pytest.approx(change(model, (100.0, "s1"), (101.0, "s1")), rel=1e-3)
    assert UNIT in shown_weights(make_model())[0]


def test_inspect_says_the_same(tmp_path, capsys):
    import json

    from mbauc.cli.main import main

    model, path = trained(tmp_path, "standard"), tmp_path / "m.mbauc"
    save_model(model, path)
    assert main(["inspect", str(path)]) == 0
    shown = capsys.readouterr().out
    one = change(model, (100.0, "s1"), (101.0, "s1"))
    assert "one standard deviation" in shown
    assert f"({one:+.4g} per unit)" in shown
    assert main(["inspect", str(path), "--json"]) == 0
    told = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)["weights"]}
    assert told["seconds"]["per_unit"] == pytest.approx(one)
    assert told["site=s1"]["per_unit"] == told["site=s1"]["weight"]
