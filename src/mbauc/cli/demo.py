"""``mbauc demo``: from a made-up table of card payments to alarms, a report and a comparison."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from mbauc.cli.argument_types import seed, whole
from mbauc.cli.options import add_command
from mbauc.cli.output import Output

#: Share of the negatives that may raise an alarm, and alarms that are shown.
_FALSE_ALARM, _SHOWN = 0.01, 3


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "demo",
        "Makes a table of card payments, 2% of them fraud, with texts, times, missing values and amounts whose "
        "effect is not linear. Then trains a ranker without tuning, and logistic regression to compare with, "
        "sets a threshold that keeps false alarms at 1% with 95% confidence, raises alarms on the payments of "
        "the following days, gives reasons for the highest scores, and writes a report and a plot.",
        "example:\n  mbauc demo --rows 1000000 --out /tmp/demo",
    )
    parser.add_argument(
        "--rows",
        type=_count,
        default=60_000,
        metavar="N",
        help="payments to train on, at least 5000 (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("mbauc-demo"),
        metavar="DIR",
        help="folder for the model, the report and the plot (default: %(default)s)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed of the data (default: %(default)s)")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    value = whole(text)
    if value < 5000:
        raise argparse.ArgumentTypeError(f"expected at least 5000 rows, got {value}")
    return value


def run(options: argparse.Namespace) -> int:
    """Make the table, train, test, raise alarms, and say how it goes line by line."""
    import numpy as np

    from mbauc.metrics import roc_auc_interval
    from mbauc.model.baseline import make_baseline
    from mbauc.ranker import TableRanker

    output, folder = Output(options.json), options.out
    folder.mkdir(parents=True, exist_ok=True)
    table, fraud = make_payments(options.rows + options.rows // 2, options.seed)
    known, coming = slice(0, options.rows), slice(options.rows, None)
    old, new = ({name: values[rows] for name, values in table.items()} for rows in (known, coming))
    output.say(
        f"{options.rows:,} card payments, {int(fraud[known].sum()):,} of them fraud: amounts, countries, "
        "shops, times, missing values."
    )
    started = time.perf_counter()
    ranker = TableRanker(false_alarm=_FALSE_ALARM, random_state=options.seed, verbose=not options.json)
    ranker.fit(old, fraud[known])
    seconds = {"TableRanker": time.perf_counter() - started}
    output.say(f"TableRanker(false_alarm={_FALSE_ALARM:g}), nothing else set, {seconds['TableRanker']:.1f} s:")
    output.note(ranker.model_.trained_on["choice"], 2, "")
    started = time.perf_counter()
    rival = make_baseline([0, 1, 2, 3], [4, 5]).fit(_frame(old), fraud[known])
    seconds["LogisticRegression"] = time.perf_counter() - started

    output.say(f"On the {fraud[coming].size:,} payments of the following days:")
    scored = {
        "TableRanker": ranker.decision_function(new),
        "LogisticRegression": rival.decision_function(_frame(new)),
    }
    rankers = {}
    for name, s in scored.items():
        interval = roc_auc_interval(fraud[coming], s)
        output.say(f"  AUC {interval}  {name}")
        rankers[name] = {"seconds": round(seconds[name], 3), "auc": interval.auc}
        rankers[name] |= {"low": interval.low, "high": interval.high}
    alarms = ranker.predict(new) == 1
    false_alarms = float(alarms[fraud[coming] == 0].mean())
    found = int((alarms & (fraud[coming] == 1)).sum())
    output.say(
        f"  {int(alarms.sum()):,} alarms find {found:,} of {int(fraud[coming].sum()):,} frauds; "
        f"the false-alarm rate is {false_alarms:.2%} (limit {_FALSE_ALARM:.0%}, with 95% confidence)"
    )
    output.say("Reasons for the highest scores, in log-odds:")
    top = np.argsort(-scored["TableRanker"])[:_SHOWN]
    for why in ranker.explain({name: values[top] for name, values in new.items()}, n=3):
        reasons = ", ".join(f"{one.name} {one.value} ({one.log_odds:+.1f})" for one in why.contributions)
        output.say(f"  {reasons}")
    ranker.save(folder / "fraud.mbauc")
    ranker.report(folder / "report.html", new, fraud[coming], title="Card payments of the following days")
    plot = _plot(fraud[coming], scored, folder / "roc.png")
    files = [folder / "report.html", folder / "fraud.mbauc", *([] if plot is None else [plot])]
    output.say(f"Open {files[0]}: curves, threshold explorer, explanations of single rows.")
    if plot is None:
        output.say("No plot: matplotlib is not installed. Install it with: pip install 'mbauc[plots]'")
    return output.finish(
        {
            "rows": options.rows,
            "test_rows": int(fraud[coming].size),
            "rankers": rankers,
            "alarms": int(alarms.sum()),
            "found": found,
            "false_alarm_rate": false_alarms,
            "files": files,
        }
    )


def make_payments(n: int, seed: int) -> tuple[dict[str, Any], Any]:
    """Card payments in the order of time, and 1 for fraud.

    Risk is high for very small and very large amounts, at night, for new shops, and in one country only for
    one kind of shop; nothing of that is a straight line.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    hour = rng.choice(24, n, p=_hours())
    table = {
        "when": np.datetime64("2024-03-01")
        + (np.sort(rng.integers(0, 60, n)) * 24 + hour).astype("timedelta64[h]"),
        "amount": np.round(rng.lognormal(3.5, 1.1, n), 2),
        "country": rng.choice(["at", "de", "fr", "it", "us"], n, p=[0.3, 0.3, 0.2, 0.1, 0.1]),
        "shop": rng.choice(["books", "food", "games", "travel"], n, p=[0.2, 0.5, 0.2, 0.1]),
        "days_known": np.round(rng.gamma(1.2, 120, n)),
        "card_age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 120, n)),
    }
    large = np.log(table["amount"]) - 3.5
    risk = (
        -7.3
        + 0.9 * large**2
        + 1.6 * (hour < 5)
        + 2.0 * np.exp(-table["days_known"] / 15)
        + 2.4 * ((table["country"] == "us") & (table["shop"] == "games"))
        + 0.8 * np.isnan(table["card_age"])
    )
    fraud = rng.random(n) < 1 / (1 + np.exp(-risk))
    return table, fraud.astype(np.int64)


def _hours() -> Any:
    """Share of the payments in each hour of the day."""
    import numpy as np

    share = np.where(np.arange(24) < 6, 0.3, 1.0)
    return share / share.sum()


def _frame(table: dict[str, Any]) -> Any:
    """The table as scikit-learn takes it: the time as its hour."""
    import numpy as np

    hour = table["when"].astype("datetime64[h]").astype(np.int64) % 24
    texts = np.column_stack([table["country"], table["shop"]]).astype(object)
    numbers = np.column_stack([table["amount"], table["days_known"], table["card_age"], hour])
    return np.concatenate([numbers.astype(object), texts], axis=1)


def _plot(y: Any, scored: dict[str, Any], path: Path) -> Path | None:
    """Draw ROC curves into a file; None without matplotlib."""
    try:
        from mbauc.plots import RocBandDisplay, new_figure, save_figure

        ax = new_figure().add_subplot()
        for name, s in scored.items():
            RocBandDisplay.from_predictions(y, s, name=name, delta=None, ax=ax)
        ax.set_title(f"{y.size:,} payments of the following days")
        save_figure(ax, path)
    except ImportError:
        return None
    return path
