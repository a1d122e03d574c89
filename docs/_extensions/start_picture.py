"""The pictures of the start page, drawn when it is built: a curve, a heat map and the ROC curve of one fit."""

from pathlib import Path

NAMES = ("curve", "heat_map", "roc")


def draw(folder):
    """Fit a ranker to made-up payments, and draw what it says of them and how well it ranks others."""
    import matplotlib as mpl
    import pandas as pd

    from mbauc import TableRanker
    from mbauc.cli.demo import make_payments
    from mbauc.metrics import roc_auc_interval
    from mbauc.plots import CurveDisplay, InteractionDisplay, RocBandDisplay, new_figure, save_figure

    payments, fraud = make_payments(60_000, seed=0)
    ranker = TableRanker("interactions", interactions=[("country", "shop")], random_state=0)
    terms = ranker.fit(pd.DataFrame(payments), fraud).model_.estimator().terms()
    payments, fraud = make_payments(20_000, seed=1)
    scores = ranker.decision_function(pd.DataFrame(payments))
    with mpl.rc_context({"font.size": 12}):
        axes = {name: new_figure(4.8, 3.9).add_subplot() for name in NAMES}
        CurveDisplay.from_estimator(terms, "amount", ax=axes["curve"])
        InteractionDisplay.from_estimator(terms, ("country", "shop"), ax=axes["heat_map"])
        RocBandDisplay.from_predictions(fraud, scores, delta=None, ax=axes["roc"])
        axes["roc"].get_legend().remove()
        axes["roc"].set_aspect("auto")
        axes["roc"].set(ylabel="detection rate", title=f"AUC {roc_auc_interval(fraud, scores)}")
        axes["roc"].title.set_fontsize("medium")
        for name, ax in axes.items():
            save_figure(ax, folder / f"{name}.svg")


def draw_if_missing(app):
    """Draw before pages are read, unless the pictures are newer than this program."""
    folder = Path(app.srcdir) / "_static" / "generated"
    folder.mkdir(exist_ok=True)
    newest = Path(__file__).stat().st_mtime
    made = [folder / f"{name}.svg" for name in NAMES]
    if not all(path.exists() and path.stat().st_mtime > newest for path in made):
        draw(folder)


def setup(app):
    """Draw when a build begins."""
    app.connect("builder-inited", draw_if_missing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
