"""What asks rankers for their terms takes a TableRanker: explain, auc_without, the display of importance."""

import numpy as np
import pytest

import mbauc
from mbauc.cli.demo import make_payments
from mbauc.metrics import roc_auc

pd = pytest.importorskip("pandas", reason="needs mbauc[dataframes]")


@pytest.fixture(scope="module")
def fitted():
    columns, fraud = make_payments(6_000, seed=0)
    table = pd.DataFrame(columns)
    ranker = mbauc.TableRanker("curves", loss="squared", hold_out=0).fit(table[:4_000], fraud[:4_000])
    return ranker, table[4_000:], fraud[4_000:]


@pytest.mark.filterwarnings("ignore::mbauc.errors.MbaucWarning")
def test_explain_counts_as_the_ranker_does(fitted):
    ranker, table, _ = fitted
    ours, its = mbauc.explain(ranker, table[:20], n=3), ranker.explain(table[:20], n=3)
    for one, other in zip(ours, its, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-12)
        assert one.base == pytest.approx(other.base, abs=1e-9)
        assert [each.name for each in one.contributions] == [each.name for each in other.contributions]
        np.testing.assert_allclose(
            [each.log_odds for each in one.contributions], [each.log_odds for each in other.contributions]
        )


@pytest.mark.filterwarnings("ignore::mbauc.errors.MbaucWarning")
def test_auc_without_columns_of_a_table(fitted):
    ranker, table, fraud = fitted
    found = mbauc.auc_without(ranker, table, fraud, by="column")
    assert found.auc == pytest.approx(roc_auc(fraud, ranker.decision_function(table)), abs=1e-12)
    lost = dict(zip(found.names, found.lost, strict=True))
    assert max(lost, key=lost.get) == "amount"
    # by definition: scores less what the curve of the column adds
    place = found.names.index("amount")
    scorer, rows = ranker.scorer(), ranker.encode_rows(table)
    added = mbauc.explain(scorer, rows, n=1_000)
    without = [
        one.score - sum(each.log_odds for each in one.contributions if each.name == "amount") / scorer.slope
        for one in added
    ]
    assert found.without[place] == pytest.approx(roc_auc(fraud, np.round(without, 9)), abs=1e-3)


@pytest.mark.filterwarnings("ignore::mbauc.errors.MbaucWarning")
def test_importance_of_columns_of_a_table(fitted):
    pytest.importorskip("matplotlib", reason="needs mbauc[plots]")
    from mbauc.plots import ImportanceDisplay

    display = ImportanceDisplay.from_estimator(*fitted)
    assert display.names[0] == "amount"
    assert display.lost[0] > 0.05
