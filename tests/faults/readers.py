"""Good files of each kind, and everything in mbauc that reads them."""

import contextlib
import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mutations import forged

from mbauc import MBAClassifier, PairMoments, sample_pairs
from mbauc.cli.main import main
from mbauc.readers import LibsvmSource
from mbauc.store.checkpoint import Checkpoint

ROWS = 240


@dataclass(frozen=True)
class Seed:
    """A good file, of a kind that mutations know, and the ways to read it."""

    kind: str
    name: str
    content: bytes
    readers: dict[str, Callable[[Path], None]]


def make_table(path, seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    site, bid = rng.choice(list("abcd"), rows), rng.normal(size=rows).round(3)
    click = (rng.random(rows) < 1 / (1 + np.exp(1 - bid - (site == "b")))).astype(int)
    lines = ["click,hour,site,bid"]
    bids = ["" if k % 17 == 3 else bid[k] for k in range(rows)]
    lines += [f"{click[k]},2014-10-21 {k % 24:02d}:00:00,{site[k]},{bids[k]}" for k in range(rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def make_libsvm(path, seed=0, rows=ROWS, columns=30):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=columns)
    lines = []
    for k in range(rows):
        chosen = np.sort(rng.choice(columns, 5, replace=False))
        values = np.ones(5) if k % 3 else rng.normal(size=5).round(2)
        label = int(weights[chosen] @ values + rng.normal() > 0.5)
        lines.append(f"{label} " + " ".join(f"{c + 1}:{v:g}" for c, v in zip(chosen, values, strict=True)))
    path.write_text("\n".join(lines) + "\n")
    return path


def command(*words):
    """Run a command of ``mbauc``; errors come out as they are."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        return main([str(word) for word in words] + ["--debug"])


@contextlib.contextmanager
def saving_at_once():
    """Checkpoints save at every offer, so that small fits save at all."""
    before = Checkpoint.__init__.__kwdefaults__["interval"]
    Checkpoint.__init__.__kwdefaults__["interval"] = 0.0
    try:
        yield
    finally:
        Checkpoint.__init__.__kwdefaults__["interval"] = before


def model_seeds(folder):
    tables = make_table(folder / "t.csv"), make_table(folder / "new.csv", seed=1)
    texts = make_libsvm(folder / "t.libsvm"), make_libsvm(folder / "new.libsvm", seed=1)
    made = {
        "hashed": (tables, ["--label", "click", "--hash-dim", 12, "--cv", 3]),
        "onehot": (tables, ["--label", "click", "--encode", "onehot", "--positive", 1]),
        "libsvm": (texts, ["--l1", 0.001, "--solver", "gram"]),
        "matrix-free": (texts, ["--solver", "matrix-free"]),
    }
    out = folder / "out"
    out.mkdir()
    for name, ((learned, data), options) in made.items():
        path = folder / f"{name}.mbauc"
        command("fit", learned, *options, "-o", path)
        if name == "onehot":
            words = ("--false-alarm", 0.3, "--confidence", 0.8)
            command("threshold", path, data, *words, "-o", path, "--force")
        yield Seed("model", path.name, path.read_bytes(), dict(model_readers(path, data, out)))


def model_readers(good, data, out):
    def reads(*words):
        def use(path):
            command(*(path if word is None else word for word in words))

        return use

    yield "score", reads("score", None, data, "-o", out / "s.csv", "--force")
    yield "inspect", reads("inspect", None)
    yield "inspect --json", reads("inspect", None, "--json")
    yield "evaluate", reads("evaluate", None, data, "--report", out / "r.html", "--force")
    yield "update", reads("update", None, data, "-o", out / "u.mbauc", "--force")
    yield "merge", reads("merge", None, good, "-o", out / "m.mbauc", "--force")
    yield "merge after", reads("merge", good, None, "-o", out / "m.mbauc", "--force")
    yield "threshold", reads("threshold", None, data, "--false-alarm", 0.3, "-o", out / "a.mbauc", "--force")
    yield "compare", reads("compare", None, good, data)
    yield "fit --like", reads("fit", data, "--like", None, "-o", out / "l.mbauc", "--force")
    for ending in ("joblib", "onnx"):
        yield f"export {ending}", reads("export", None, "-o", out / f"x.{ending}", "--force")


def moment_seeds(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    found = {
        "exact.moments": PairMoments.from_arrays(X, y),
        "matched.moments": sample_pairs(X, y, 50, random_state=0),
        "closed.moments": PairMoments.from_arrays(X, y).closed(),
    }

    def load(path):
        PairMoments.load(path)

    def fit(path):
        moments = PairMoments.load(path)
        MBAClassifier(l2=0.1).fit_moments(moments + found["exact.moments"])

    for name, moments in found.items():
        moments.save(folder / name)
        yield Seed(
            "moments", name, (folder / name).read_bytes(), {"PairMoments.load": load, "fit_moments": fit}
        )


def checkpoint_seeds(folder):
    source = LibsvmSource(make_libsvm(folder / "rows.libsvm"), block_rows=100)
    settings = {
        "ridge": {"solver": "matrix-free", "l2": "auto"},
        "lasso": {"solver": "matrix-free", "l1": 0.01, "l2": "auto"},
        "net": {"solver": "matrix-free", "l1": 0.003, "l2": 0.1},
        "gram": {"solver": "gram", "l2": 0.1},
        "drawn": {"pairs": 300, "l2": 0.1},
    }
    for name, options in settings.items():
        kept = folder / f"kept-{name}"
        with saving_at_once():
            MBAClassifier(**options).fit_source(source, checkpoint=kept)
        files = {path.name: path.read_bytes() for path in sorted(kept.iterdir()) if path.suffix != ".lock"}
        for file, content in files.items():
            yield checkpoint_seed(name, file, content, files, source, options)
        if "rows.cache" in files:
            partial = {other: files[other] for other in files if other != "rows.cache"}
            content = without_end(files["rows.cache"])
            yield checkpoint_seed(name, "rows.cache.partial", content, partial, source, options)


def checkpoint_seed(name, file, content, files, source, options):
    def resume(path):
        folder = path.with_name("resumed")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for other, bytes_of in files.items():
            (folder / other).write_bytes(bytes_of)
        shutil.copyfile(path, folder / file)
        MBAClassifier(**options).fit_source(source, checkpoint=folder)

    kind = "cache" if file.startswith("rows.cache") else "state"
    return Seed(kind, f"{name}-{file}", content, {"fit_source": resume})


def without_end(content):
    """A cache whose closing record is not there yet."""
    head, bodies = forged.split_journal(content)
    return forged.join_journal(head, bodies[:-1])


def make_seeds(folder):
    """Good files of each kind."""
    folder = Path(folder)
    return [*model_seeds(folder), *moment_seeds(folder), *checkpoint_seeds(folder)]
