"""Reasons beside scores: the slow way by hand, for each kind of model, and what is written of them."""

import re

import numpy as np
import pytest
from trained_models import table_model, table_text

pytest.importorskip("pyarrow", reason="tables are read with pyarrow")

from pyarrow import csv, parquet
from scipy import sparse as sp

from mbauc import AdditiveAUCClassifier, MBAClassifier, explain
from mbauc.estimators import LinearScorer
from mbauc.estimators.additive.largest import find_largest
from mbauc.estimators.additive.score_terms import split_scores
from mbauc.model import LibsvmLayout, RankerModel, Threshold
from mbauc.model.explaining import explain_files
from mbauc.model.scoring import score_files
from mbauc.readers import LibsvmSource, TableSource


def read(model, paths, out, **options):
    told = score_files(model, paths, out, **options)
    return told, parquet.read_table(out) if out.suffix == ".parquet" else csv.read_csv(out)


def expected_reasons(found, n, between):
    """By hand from an explanation with all its contributions."""
    up = [one for one in found.contributions if one.log_odds >= 0.005][:n]
    texts = [f"{one.name}{between(one.name)}{one.value} ({one.log_odds:+.2f})" for one in up]
    return texts + [None] * (n - len(texts))


def additive_model(folder):
    rng = np.random.default_rng(0)
    rows = 900
    a, b, site = rng.integers(0, 3, rows), rng.integers(0, 3, rows), rng.choice(list("pq"), rows)
    y = (2.0 * (a == b) + (site == "q") + rng.standard_normal(rows) > 1.5).astype(int)
    lines = [f"{y[k]},{a[k]},{'' if k % 9 == 0 else b[k]},{site[k]}" for k in range(rows)]
    path = folder / "pairs.csv"
    path.write_text("\n".join(["y,a,b,site", *lines]) + "\n")
    source = TableSource(path, label="y", encode="codes", types={"a": "numeric", "b": "numeric"})
    ranker = AdditiveAUCClassifier(features="interactions", interactions=[("a", "b")]).fit_source(source)
    return RankerModel.of(ranker, source.layout, source.classes), path


def test_the_largest_entries_are_those_of_a_sort(rng):
    added = rng.integers(-3, 4, size=(50, 7)).astype(float)  # many ties and zeros
    for upwards in (False, True):
        sizes = np.where(added > 0, added, 0.0) if upwards else np.abs(added)
        wanted = [
            (row, place)
            for row in range(50)
            for place in sorted(range(7), key=lambda k, row=row: -sizes[row, k])[:3]
            if sizes[row, place] > 0
        ]
        for matrix in (added, sp.csr_array(added)):
            found = find_largest(matrix, 3, upwards=upwards)
            assert list(zip(found.rows.tolist(), found.places.tolist(), strict=True)) == wanted
            np.testing.assert_array_equal(found.amounts, added[found.rows, found.places])
            np.testing.assert_array_equal(found.counts, (sizes > 0).sum(axis=1))


def test_sparse_rows_are_split_as_dense_ones(rng):
    X = rng.integers(-1, 2, size=(40, 6)) * rng.normal(size=(40, 6))
    scorer = LinearScorer([1.0, 0.0, -2.0, 0.5, 0.0, 3.0], slope=2.0, intercept=0.3)
    for means in (None, rng.normal(size=6)):
        dense, packed = explain(scorer, X, 9, means=means), explain(scorer, sp.csr_array(X), 9, means=means)
        for one, two in zip(dense, packed, strict=True):
            assert [part[:2] for part in one.contributions] == [part[:2] for part in two.contributions]
            total = two.base + sum(part.log_odds for part in two.contributions) + two.rest
            assert total == pytest.approx(two.log_odds)
            assert one.base == pytest.approx(two.base)
    assert sp.issparse(split_scores(scorer, sp.csr_array(X)).added)


@pytest.mark.parametrize("encode", ["onehot", "hash"])
@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_reasons_of_tables_are_the_largest_contributions_of_their_columns(encode, ending, tmp_path):
    model = table_model(tmp_path, encode=encode, **({"hash_dim": 11} if encode == "hash" else {}))
    new = tmp_path / "new.csv"
    new.write_text(table_text(seed=5, rows=80))
    plain, scores = read(model, new, tmp_path / "plain.csv")
    told, table = read(model, new, tmp_path / f"reasons.{ending}", reasons=2, keep=["view"])
    assert told == plain
    assert table.column_names == ["view", "score", "probability", "reason_1", "reason_2"]
    np.testing.assert_array_equal(table["score"], scores["score"])
    found = explain_files(model, new, n=99)
    wanted = [expected_reasons(one.explanation, 2, lambda name: "=") for one in found]
    texts = [
        [text or None for text in row]
        for row in zip(*(table[f"reason_{k}"].to_pylist() for k in (1, 2)), strict=True)
    ]
    assert texts == wanted
    assert any(None in row for row in wanted)
    # by hand: all that a column became, from the mean of the training where it is known
    encoding, slope = model.layout.encoding, model.slope
    X = encoding.transform(
        csv.read_csv(new, convert_options=csv.ConvertOptions(column_types={"hour": "string"}))
    )
    mean = np.average(np.vstack(model.moments.class_means), axis=0, weights=model.moments.weights)
    [j] = [j for j, name in enumerate(encoding.feature_names) if name == "age"]
    ages = [part.log_odds for one in found for part in one.explanation.contributions if part.name == "age"]
    np.testing.assert_allclose(
        ages,
        slope
        * model.coef[j]
        * (np.asarray(X[:, [j]].todense() if sp.issparse(X) else X[:, [j]]).ravel() - mean[j]),
    )
    names = {part.name for one in found for part in one.explanation.contributions}
    assert names == {"hour", "site", "size", "bid", "age"}
    missing = [part.value for one in found for part in one.explanation.contributions if part.name == "bid"]
    assert missing.count("missing") == 5
    for one in found:
        told_sum = one.explanation.base + sum(part.log_odds for part in one.explanation.contributions)
        assert told_sum == pytest.approx(one.explanation.log_odds)


def test_reasons_of_curves_and_heat_maps(tmp_path):
    model, path = additive_model(tmp_path)
    _, table = read(model, path, tmp_path / "s.parquet", reasons=3)
    found = explain_files(model, path, n=99)
    between = lambda name: " = " if "×" in name else "="  # noqa: E731
    wanted = [expected_reasons(one.explanation, 3, between) for one in found]
    assert list(zip(*(table[f"reason_{k}"].to_pylist() for k in (1, 2, 3)), strict=True)) == list(
        map(tuple, wanted)
    )
    texts = [text for row in wanted for text in row if text]
    assert any(re.fullmatch(r"a × b = \d × \d \(\+\d\.\d\d\)", text) for text in texts)
    assert any(re.fullmatch(r"site=q \(\+\d\.\d\d\)", text) for text in texts)
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b,site\n1,,mars\n")
    values = {part.name: part.value for part in explain_files(model, odd, n=9)[0].explanation.contributions}
    assert values["site"] == "mars (other)"
    assert values["a × b"] == "1 × missing"


def test_slots_of_a_hash_are_told_by_their_texts(tmp_path):
    rng = np.random.default_rng(0)
    user = rng.integers(0, 12, 600)
    y = (user % 3 == 0) ^ (rng.random(600) < 0.1)
    path = tmp_path / "users.csv"
    path.write_text("y,user\n" + "".join(f"{int(a)},u{b:02d}\n" for a, b in zip(y, user, strict=True)))
    source = TableSource(path, label="y", encode="codes", max_categories=5, types={"user": "category"})
    assert source.encoding.code_columns[0].hashed
    model = RankerModel.of(AdditiveAUCClassifier().fit_source(source), source.layout, source.classes)
    _, table = read(model, path, tmp_path / "s.parquet", reasons=1)
    told = [text.split(" (")[0] for text in table["reason_1"].to_pylist() if text]
    assert set(told) == {f"user=u{k:02d}" for k in range(0, 12, 3)}


def test_reasons_of_libsvm_features(tmp_path):
    path = tmp_path / "train.libsvm"
    path.write_text("+1 1:2 3:1\n-1 1:1 2:2\n-1 2:1\n+1 1:3\n")
    source = LibsvmSource(path)
    ranker = MBAClassifier(l2=0.5).fit_source(source)
    model = RankerModel.of(ranker, LibsvmLayout(source.n_features, source.zero_based), source.classes)
    _, table = read(model, path, tmp_path / "s.parquet", reasons=2)
    first, second = (table[f"reason_{k}"].to_pylist() for k in (1, 2))
    amount = model.slope * model.coef
    assert first[0] == f"1=2 ({2 * amount[0]:+.2f})"
    assert second[0] == f"3=1 ({amount[2]:+.2f})"
    assert first[2:] == [None, f"1=3 ({3 * amount[0]:+.2f})"]
    assert second[1:] == [None, None, None]


def test_reasons_of_no_rows_and_of_texts_like_formulas(tmp_path):
    model = table_model(tmp_path, threshold=Threshold(0.0))
    new = tmp_path / "new.csv"
    head = table_text().splitlines()[0]
    new.write_text(head + "\n")
    told, table = read(model, new, tmp_path / "none.parquet", reasons=1)
    assert (told["rows"], table.column_names[-2:]) == (0, ["alarm", "reason_1"])
    assert str(table.schema.field("reason_1").type) == "string"
    path = tmp_path / "formulas.csv"
    path.write_text("y,=cmd\n" + "".join(f"{int(k > 20)},{k}.5\n" for k in range(40)))
    source = TableSource(path, label="y")
    ranker = MBAClassifier(l2=0.5).fit_source(source)
    model = RankerModel.of(ranker, source.layout, source.classes)
    told, table = read(model, path, tmp_path / "s.csv", reasons=1)
    assert table["reason_1"].to_pylist()[-1].startswith("=cmd=39.5 (+")
    assert told["formulas"] == sum(text != "" for text in table["reason_1"].to_pylist()) > 0
    with pytest.raises(ValueError, match="reasons must be a whole number of at least 0, got -1"):
        score_files(model, path, tmp_path / "s.csv", reasons=-1)
