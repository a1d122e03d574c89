"""Rankers of tables in which words of free texts decide."""

import json

import numpy as np
import pytest

from mbauc import AdditiveAUCClassifier, TableRanker, load
from mbauc.cli.main import main
from mbauc.metrics import roc_auc
from mbauc.model.export import to_onnx

pa = pytest.importorskip("pyarrow", reason="tables are read with pyarrow")
pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")

WORDS = ["order", "parcel", "invoice", "account", "card", "shoes", "lamp", "today", "again", "my", "the", "new"]


def make_table(seed, rows=1_500, decide=0.8):
    """Messages, of which those of the positive rows often have one word and those of the others another."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    texts = []
    for label in y:
        words = list(rng.choice(WORDS, rng.integers(2, 8)))
        if rng.random() < decide:
            words.insert(int(rng.integers(len(words))), "Refund!" if label else "thanks")
        texts.append(" ".join(words) + f" {rng.integers(10**6)}")
    texts[5], texts[9] = None, ""
    return pd.DataFrame({"title": texts, "x": rng.standard_normal(rows)}), y


@pytest.fixture(scope="module")
def fitted():
    table, y = make_table(0)
    return TableRanker(random_state=0).fit(table, y)


def test_words_decide(fitted):
    table, y = make_table(1)
    assert fitted.auc_.auc > 0.8
    assert roc_auc(y, fitted.decision_function(table)) > 0.8
    told, labels = make_table(0)
    without = TableRanker(random_state=0, types={"title": "category"}).fit(told, labels)
    assert roc_auc(y, without.decision_function(table)) < 0.6
    assert "title   text" in fitted.describe()
    assert "words + number of words" in fitted.describe()


def test_words_that_say_nothing_do_not_flatter_the_test():
    table, _ = make_table(2, decide=0.0)
    rng = np.random.default_rng(3)
    letters = np.array(list("abcdefghijklmnop"))
    syllables = ["".join(rng.choice(letters, 4)) for _ in range(600)]
    table["title"] = [" ".join(rng.choice(syllables, rng.integers(8, 20))) for _ in range(len(table))]
    ranker = TableRanker(random_state=0).fit(table, rng.integers(0, 2, len(table)))
    assert ranker.plan_["title"].kind == "text"
    assert ranker.auc_.low < 0.5


def test_frames_and_files_have_the_same_scores(fitted, tmp_path):
    table, y = make_table(0)
    whole = table.assign(y=y)
    whole.to_csv(tmp_path / "t.csv", index=False)
    whole.to_parquet(tmp_path / "t.parquet")
    new, _ = make_table(1)
    new.to_csv(tmp_path / "new.csv", index=False)
    new.to_parquet(tmp_path / "new.parquet")
    expected = fitted.decision_function(new)
    for name in ("t.csv", "t.parquet"):
        other = TableRanker(random_state=0).fit(tmp_path / name, label="y")
        np.testing.assert_array_equal(other.decision_function(new), expected)
    for name in ("new.csv", "new.parquet"):
        fitted.score_files(tmp_path / name, tmp_path / "scores.parquet")
        np.testing.assert_array_equal(pd.read_parquet(tmp_path / "scores.parquet")["score"], expected)


def test_saved_and_loaded(fitted, tmp_path):
    fitted.save(tmp_path / "a.mbauc")
    again, (new, _) = load(tmp_path / "a.mbauc"), make_table(1)
    np.testing.assert_array_equal(again.decision_function(new), fitted.decision_function(new))
    assert again.plan_["title"].becomes == fitted.plan_["title"].becomes


def test_unseen_words_and_empty_texts(fitted):
    def score(*texts):
        return fitted.decision_function(pd.DataFrame({"title": texts, "x": 0.0}))

    plain, strange, refund = score("my lamp qqqq", "my lamp zzzz", "my lamp REFUND")
    assert plain == strange < refund
    missing, empty, no_words = score(None, "", "?!")
    assert missing == empty
    assert np.isfinite([missing, no_words]).all()


def test_reasons_and_reports_name_words(fitted, tmp_path):
    rows = pd.DataFrame({"title": ["my Refund now", None], "x": [0.0, 0.0]})
    with_word, without = fitted.explain(rows, n=3)
    assert (with_word.contributions[0].name, with_word.contributions[0].value) == ('title has "refund"', "1")
    assert {one.value for one in without.contributions if one.name.startswith("title")} <= {"missing"}
    rows.to_csv(tmp_path / "r.csv", index=False)
    fitted.score_files(tmp_path / "r.csv", tmp_path / "s.csv", reasons=2)
    assert 'title has "refund"' in pd.read_csv(tmp_path / "s.csv").to_string()
    fitted.report(tmp_path / "page.html")
    assert "title has &quot;refund&quot;" in (tmp_path / "page.html").read_text()
    assert not [one for one in fitted.model_.trained_on["findings"] if "title" in json.dumps(one)]


def test_curves_of_a_frame(fitted):
    table, y = make_table(0)
    ranker = AdditiveAUCClassifier(features="curves").fit(table, y)
    new, labels = make_table(1)
    assert roc_auc(labels, ranker.decision_function(new)) > 0.8
    with pytest.raises(ValueError, match="name one of them"):
        AdditiveAUCClassifier(features="interactions", interactions=[(0, 1)]).fit(table, y)


def test_the_command_line(tmp_path):
    table, y = make_table(0)
    table["title"] = table["title"].str.split().str[-2:].str.join(" ")
    table.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.mbauc"
    assert (
        main(["fit", str(tmp_path / "t.csv"), "--label", "y", "--types", "title=text", "-o", str(model)]) == 0
    )
    assert load(model).plan_["title"].kind == "text"
    for command in ("inspect", "explain"):
        files = [str(tmp_path / "t.csv")] if command == "explain" else []
        assert main([command, str(model), *files]) == 0


def test_onnx_takes_columns_and_refuses_texts(fitted, tmp_path):
    pytest.importorskip("onnx", reason="onnx is an optional dependency")
    to_onnx(fitted.model_, tmp_path / "a.onnx", inputs="columns")
    with pytest.raises(ValueError, match="cannot split the texts of the column 'title' into words"):
        to_onnx(fitted.model_, tmp_path / "a.onnx", inputs="table")


def test_a_word_that_gives_the_label_away_is_pointed_out():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    others = (" ".join(rng.choice(["alpha", "beta", "gamma", "delta"], rng.integers(1, 6))) for _ in y)
    texts = [
        f"{'chargeback' if one else 'normal'} {rest} n{k}"
        for k, (one, rest) in enumerate(zip(y, others, strict=True))
    ]
    ranker = TableRanker("linear").fit({"t": texts, "x": rng.normal(size=600)}, y)
    told = " ".join(ranker.describe().split())
    assert told.count("is it known before the label?") == 2
    assert """column 't has "chargeback"' alone has an AUC of 1.000""" in told
    assert "ignore=['t']" in told
