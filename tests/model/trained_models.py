"""Small models of each kind, and when two are the same to the bit."""

import numpy as np

from mbauc import MBAClassifier, sample_pairs
from mbauc.model import LibsvmLayout, RankerModel, TableLayout, Threshold
from mbauc.readers import TableSource

ROWS = 300


def table_text(seed=0, rows=ROWS, labels=("0", "1")):
    """CSV with a number and a category that may be missing, another category, a time and an id."""
    rng = np.random.default_rng(seed)
    site, bid = rng.choice(list("abcd"), rows), rng.normal(size=rows).round(3)
    click = rng.random(rows) < 1 / (1 + np.exp(1.5 - bid - (site == "b")))
    size = rng.choice([300, 320, 728], rows)
    lines = ["view,click,hour,site,size,bid,age"]
    for k in range(rows):
        told, where = "" if k % 17 == 3 else bid[k], "" if k % 19 == 4 else site[k]
        lines.append(
            f"v{k:05d},{labels[int(click[k])]},141021{k % 24:02d},{where},{size[k]},{told},{rng.poisson(30)}"
        )
    return "\n".join(lines) + "\n"


def table_source(folder, *, seed=0, rows=ROWS, labels=("0", "1"), name="table.csv", **options):
    path = folder / name
    path.write_text(table_text(seed, rows, labels))
    return TableSource(path, label="click", id=["view"], **({"encode": "onehot"} | options))


def table_model(folder, *, settings=None, threshold=None, **options):
    source = table_source(folder, **options)
    settings = {"l2": 0.5} if settings is None else settings
    ranker = MBAClassifier(**settings, solver="gram").fit_source(source)
    positive = tuple(options["positive"]) if options.get("positive") else ()
    layout = TableLayout(source.encoding, "click", positive)
    return RankerModel.of(ranker, layout, source.classes, settings=settings, threshold=threshold)


def rows(seed=0, n=120, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + rng.normal(size=n) > 0.5).astype(int)


def plain_model(seed=0, d=4, kind="exact", *, classes=(0, 1), settings=None, zero_based=False, **rest):
    """A model of numbered columns with exact, sampled, matched or closed moments, or with none."""
    X, y = rows(seed, d=d)
    settings = {"l2": 0.5} if settings is None else settings
    ranker = MBAClassifier(**settings).fit(X, y)
    if kind in ("matched", "complete"):
        ranker.fit_moments(sample_pairs(X, y, 200, pairing=kind, random_state=0))
    elif kind == "closed":
        ranker.fit_moments(ranker.moments_.closed())
    elif kind == "none":
        ranker = MBAClassifier(**settings, solver="matrix-free").fit(X, y)
    return RankerModel.of(ranker, LibsvmLayout(d, zero_based), classes, settings=settings, **rest)


def threshold():
    return Threshold(0.1 + 0.2, 0.05, 0.95, 1234)


def assert_same(a, b, *, moments=True):
    """The same to the bit, types of labels included."""
    assert a.layout.to_dict() == b.layout.to_dict()
    assert repr(a.classes) == repr(b.classes)
    assert a.coef.tobytes() == b.coef.tobytes()
    for name in ("intercept", "slope", "l1", "l2", "threshold", "settings", "trained_on", "path"):
        assert repr(getattr(a, name)) == repr(getattr(b, name)), name
    if not moments:
        return
    assert (a.moments is None) == (b.moments is None)
    if a.moments is not None:
        one, two = a.moments.encode(), b.moments.encode()
        assert one.keys() == two.keys()
        for name, array in one.items():
            assert np.asarray(array).tobytes() == np.asarray(two[name]).tobytes(), name
