"""Pictures of the start page, drawn when it is built, and the one of the README: curve, heat map, ROC curve.

``python docs/_extensions/start_picture.py`` draws the one of the README, ``docs/_static/readme.png``.
"""

from pathlib import Path

NAMES = ("curve", "heat_map", "roc")
README_PICTURE = Path(__file__).parent.parent / "_static" / "readme.png"


def draw(panels):
    """Fit a ranker to made-up payments; draw into three axes what it says and how well it ranks others."""
    import pandas as pd
    from matplotlib.text import Text

    from mbauc import TableRanker
    from mbauc.cli.demo import make_payments
    from mbauc.metrics import roc_auc_interval
    from mbauc.plots import CurveDisplay, InteractionDisplay, RocBandDisplay

    curve, heat_map, roc = panels
    # so few rows that the curves are those of the log-loss, whose scores are log-odds
    payments, fraud = make_payments(40_000, seed=0)
    ranker = TableRanker("interactions", interactions=[("country", "shop")], random_state=0)
    ranker.fit(pd.DataFrame(payments), fraud)
    payments, fraud = make_payments(20_000, seed=1)
    scores = ranker.decision_function(pd.DataFrame(payments))
    CurveDisplay.from_estimator(ranker, "amount", ax=curve)
    InteractionDisplay.from_estimator(ranker, ("country", "shop"), ax=heat_map)
    RocBandDisplay.from_predictions(fraud, scores, delta=None, ax=roc)
    roc.get_legend().remove()
    roc.set_aspect("auto")
    roc.set(ylabel="detection rate", title=f"AUC {roc_auc_interval(fraud, scores)}")
    roc.title.set_fontsize("medium")
    # a third of a page, in which the small print of heat maps would be too small
    for text in heat_map.figure.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), 11))


def draw_start_page(folder):
    """One file each."""
    import matplotlib as mpl

    from mbauc.plots import new_figure, save_figure

    with mpl.rc_context({"font.size": 12}):
        panels = [new_figure(4.8, 3.9).add_subplot() for _ in NAMES]
        draw(panels)
        for name, ax in zip(NAMES, panels, strict=True):
            save_figure(ax, folder / f"{name}.svg")


def draw_readme(path=README_PICTURE):
    """All three beside each other."""
    import matplotlib as mpl

    from mbauc.plots import new_figure

    with mpl.rc_context({"font.size": 11}):
        figure = new_figure(14.5, 3.9)
        draw(figure.subplots(1, 3))
        figure.savefig(path, dpi=110)


def draw_if_missing(app):
    """Draw before pages are read, unless the pictures are newer than this program."""
    folder = Path(app.srcdir) / "_static" / "generated"
    folder.mkdir(exist_ok=True)
    newest = Path(__file__).stat().st_mtime
    made = [folder / f"{name}.svg" for name in NAMES]
    if not all(path.exists() and path.stat().st_mtime > newest for path in made):
        draw_start_page(folder)


def setup(app):
    """Draw when a build begins."""
    app.connect("builder-inited", draw_if_missing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    draw_readme()
