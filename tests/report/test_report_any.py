"""The report of scores of any model: by segment, over time, with probabilities if there are any."""

import json
from datetime import date, timedelta

import numpy as np
import pytest
from report_cases import HOSTILE, make_rows

from mbauc.cli.main import main
from mbauc.metrics import roc_auc_interval
from mbauc.metrics.ranked import RankedScores
from mbauc.readers import TableSource
from mbauc.report import report_html
from mbauc.report.evaluation import evaluate
from mbauc.report.levels import cut_levels, cut_periods, measure_levels

pytestmark = pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")


def test_levels_are_measured_like_their_rows_alone():
    y, s = make_rows(3000, 0.2)
    rng = np.random.default_rng(1)
    codes, weight = rng.integers(-1, 4, y.size), rng.integers(1, 4, y.size).astype(float)
    y[codes == 3] = 0
    for w in (None, weight):
        found = measure_levels(RankedScores(y == 1, s, w), codes, list("abcd"))
        for k in range(3):
            own = codes == k
            kind = None if w is None else "frequency"
            one = roc_auc_interval(y[own], s[own], sample_weight=None if w is None else w[own], weights=kind)
            assert (found.auc[k], found.low[k], found.high[k]) == pytest.approx((one.auc, one.low, one.high))
            assert found.rows[k] == (own.sum() if w is None else w[own].sum())
        assert np.isnan(found.auc[3])
        assert found.worst_first().names[-1] == "d"


def test_numbers_texts_and_dates_become_levels():
    codes, names = cut_levels(np.array([3.0, np.nan, 3.0, 5.0]), 4, "x")
    assert [names[k] for k in codes] == ["3", "(missing)", "3", "5"]
    codes, names = cut_levels([f"v{k % 30}" for k in range(300)] + ["v0"], 301, "x")
    assert (len(names), names[0], names[-1]) == (20, "v0", "(11 other values)")
    texts = np.array([repr(k / 7) for k in range(50)], dtype=object)  # too many digits for a reader of tables
    assert len(cut_levels(texts, 50, "x")[1]) == 5
    assert cut_levels(["007", "008"], 2, "x")[1] == ["007", "008"]
    codes, names = cut_levels(np.repeat(np.arange(20), [181, *[1] * 19]), 200, "x")
    assert names[0] == "0"  # equal values are never parted
    with pytest.raises(ValueError, match=r"segments\['x'\] must have a value for each of the 3 rows"):
        cut_levels([1, 2], 3, "x")


def test_times_become_periods_of_the_calendar_in_any_form():
    days = [date(2024, 1, 1) + timedelta(k) for k in range(90)]
    for values in (days, [str(day) for day in days], np.array(days, dtype="datetime64[ns]")):
        codes, names = cut_periods(values, 90)
        assert names[:2] == ["2024-01-01", "2024-01-08"]  # weeks, from their Mondays
        assert len(names) == 13
        assert (np.diff(codes) >= 0).all()
    assert cut_periods(["2024-01-01T10:00:00Z", "2024-01-01T12:30:00+02:00"], 2)[1] == [
        "2024-01-01 10:00",
        "2024-01-01 10:30",
    ]
    assert cut_periods(np.arange(20), 20)[1] == [str(k) for k in range(20)]
    assert (cut_periods([None, None], 2)[0] == -1).all()


def test_a_worse_end_and_a_bad_level_are_said_and_chance_is_not():
    y, s = make_rows(6000, 0.3)
    time, plan = np.arange(y.size), np.where(np.arange(y.size) % 5 == 0, "team", "basic")
    calm = evaluate(y, s, time=time, segments={"plan": plan})
    assert not calm.time.worse
    assert calm.segments[0].doubted is None
    assert not any("worse" in note for note in calm.warnings)
    faded = evaluate(y, np.where(time > 4500, -s, s), time=time)
    assert "The AUC has dropped significantly in the last" in " ".join(faded.warnings)
    assert faded.time.last.auc < faded.time.before.auc
    bad = evaluate(y, np.where(plan == "team", 0.1 * s, s), segments={"plan": plan})
    assert bad.segments[0].doubted is None  # the same order within the level
    noise = np.random.default_rng(5).standard_normal(y.size)
    bad = evaluate(y, np.where(plan == "team", noise, s), segments={"plan": plan})
    assert "Segment plan = team: the AUC of its" in " ".join(bad.warnings)


def test_the_page_has_what_was_given_and_nothing_of_a_model():
    y, s = make_rows(2000, 0.2)
    words = np.where(y == 1, "bad", "good")
    odd = np.array(HOSTILE, dtype=object)[np.arange(y.size) % len(HOSTILE)]
    page = report_html(words, s, positive="bad", segments={HOSTILE[0]: odd}, time=np.arange(y.size))
    for heading in ("By segment", "Over time", "score &gt;", "label <bdi>bad</bdi>"):
        assert heading in page
    for heading in ("Weights", "mbauc threshold MODEL", "Calibration"):
        assert heading not in page
    assert page.count("<script") == report_html(y, s).count("<script")
    p = 1 / (1 + np.exp(-s))
    assert "interpreted as probabilities because all lie between 0 and 1" in report_html(y, p)
    assert "calibration-plot" in report_html(y, s, probabilities=p)
    assert "calibration-plot" not in report_html(y, p, probabilities=False)
    assert "calibration-plot" not in report_html(y, (s > 0).astype(float))  # verdicts
    with pytest.raises(ValueError, match="never has the label 'ugly'"):
        report_html(words, s, positive="ugly")
    with pytest.raises(ValueError, match="probabilities lie between 0 and 1"):
        report_html(y, s, probabilities=2 + p)


def test_the_command_reads_a_table_of_scores(tmp_path, capsys):
    y, s = make_rows(400, 0.3)
    plan = np.where(np.arange(400) % 3, "a", "b")
    words = np.where(y == 1, "yes", "no")
    lines = [f"{words[k]},{s[k]:.4f},{plan[k]},{k}" for k in range(400)]
    data, page = tmp_path / "scores.csv", tmp_path / "page.html"
    data.write_text("churn,score,plan,day\n" + "\n".join(lines) + "\n")
    columns = ["--label", "churn", "--score", "score"]
    assert (
        main(["report", str(data), *columns, "--segment", "plan", "--time", "day", "-o", str(page), "--json"])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["auc"] == roc_auc_interval(y, np.round(s, 4)).auc
    assert {one["level"] for one in found["segments"]["plan"]} == {"a", "b"}
    assert len(found["time"]["periods"]) == 12
    assert "Over time" in page.read_text(encoding="utf-8")
    for words, said in (
        (["--label", "churned", "--score", "score"], "Did you mean 'churn'?"),
        (["--label", "churn", "--score", "plan"], "line 2: expected a finite number as score"),
        (["--label", "plan", "--score", "score", "--positive", "x"], "it never occurs"),
        (["--label", "day", "--score", "score"], "a third label"),
        ([*columns, "--probability", "score"], "expected a probability between 0 and 1"),
        ([*columns, "--segment", "plans"], "Did you mean 'plan'?"),
    ):
        assert main(["report", str(data), *words]) == 1
        assert said in capsys.readouterr().err


def test_what_columns_of_a_table_add_is_the_spread_of_their_scores(tmp_path):
    rng = np.random.default_rng(0)
    site, bid = rng.choice(list("abcd"), 200), rng.standard_normal(200)
    rows = [f"{k % 2},{site[k]},{'' if k % 7 == 0 else bid[k]}" for k in range(200)]
    (tmp_path / "t.csv").write_text("y,site,bid\n" + "\n".join(rows) + "\n")
    for encode in ("onehot", "hash"):
        source = TableSource(tmp_path / "t.csv", label="y", encode=encode, hash_dim=64, block_rows=50)
        coef = rng.standard_normal(source.n_features)
        found = source.column_deviations(coef)
        X = np.vstack([np.asarray(getattr(block.X, "toarray", lambda b=block: b.X)()) for block in source])
        parts = {name: np.zeros(200) for name in ("site", "bid")}
        if encode == "onehot":
            for k, name in enumerate(source.feature_names):
                parts[name.partition("=")[0]] += X[:, k] * coef[k]
            assert source.encoding.column_deviations(X, coef) == pytest.approx(found)
        else:
            contents = source.slot_contents(range(1, 65))
            for slot, inside in contents.items():
                for name, value, _ in inside:
                    here = (site == value) if name == "site" else np.arange(200) % 7 == 0
                    parts[name] += here * coef[slot]
            parts["bid"] += X[:, 0] * coef[0]
        assert found == pytest.approx({name: one.std() for name, one in parts.items()})
