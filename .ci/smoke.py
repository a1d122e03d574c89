"""What an installation with its declared dependencies alone must do; run in an empty folder elsewhere."""

import csv
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import mbauc
from mbauc import MBAClassifier, MBAClassifierCV, PairMoments, TableRanker
from mbauc.metrics import roc_auc
from mbauc.model import load_model
from mbauc.readers import TableSource

#: Packages of extras, what asks for them, and the extra that the error must name.
EXTRAS = {
    "matplotlib": ("from mbauc.plots import new_figure; new_figure()", "plots"),
    "onnx": (
        "from mbauc.model.export import to_onnx; from mbauc.model import load_model; "
        "to_onnx(load_model('model.mbauc'), 'model.onnx')",
        "onnx",
    ),
    "dask": ("import mbauc.dask", "dask"),
    "pyspark": ("from mbauc.spark import MBAClassifier", "spark"),
    "torch": ("import mbauc.objectives.torch", "torch"),
    "shtab": (
        "import sys; from mbauc.cli.main import main; sys.exit(main(['completion', 'bash', '--debug']))",
        "completion",
    ),
    "pooch": (
        "import sys; from mbauc.cli.main import main; sys.exit(main(['data', 'download', 'a1a', '--debug']))",
        "datasets",
    ),
}


def main() -> None:
    place = Path(mbauc.__file__).resolve()
    check("site-packages" in place.parts, f"mbauc comes from {place}, not from the wheel")
    check((place.parent / "py.typed").exists(), "py.typed is missing")
    check(not find_spec("pandas") and not find_spec("pytest"), "the environment is not empty")
    fit_arrays()
    fit_table()
    use_commands()
    for package, (code, extra) in EXTRAS.items():
        ask_for_extra(package, code, extra)
    mbauc.show_versions()
    print("the wheel works in an empty environment")


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3_000, 3))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(3_000) > 2.5).astype(int)


def fit_arrays() -> None:
    X, y = rows()
    first = MBAClassifier().fit(X, y)
    check(roc_auc(y, first.decision_function(X)) > 0.7, "MBAClassifier does not rank")
    merged = PairMoments.from_arrays(X[:1000], y[:1000]) + PairMoments.from_arrays(X[1000:], y[1000:])
    merged.save("moments")
    again = MBAClassifier().fit_moments(PairMoments.load("moments"))
    check(np.allclose(again.coef_, first.coef_, rtol=1e-6), "moments that were merged, saved and loaded differ")
    MBAClassifierCV(random_state=0).fit(X, y)


def fit_table() -> None:
    X, y = rows()
    with open("rows.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["amount", "age", "hour", "place", "label"])
        places = np.where(X[:, 2] > 0, "shop", "web")
        writer.writerows(
            [f"{a:.3f}", f"{b:.3f}", f"{c:.3f}", place, label]
            for (a, b, c), place, label in zip(X, places, y, strict=True)
        )
    ranker = TableRanker(random_state=0).fit("rows.csv", label="label")
    check(ranker.auc_ is not None and ranker.auc_.auc > 0.75, "TableRanker does not rank")
    ranker.save("model.mbauc")
    table = {"amount": X[:5, 0], "age": X[:5, 1], "hour": X[:5, 2], "place": ["web"] * 5}
    check(
        np.array_equal(mbauc.load("model.mbauc").predict_proba(table), ranker.predict_proba(table)),
        "load differs",
    )
    check(load_model("model.mbauc").n_features > 3, "the model file has no features")
    MBAClassifier().fit_source(TableSource("rows.csv", label="label"))


def use_commands() -> None:
    command("--help")
    check(command("--version").strip() == f"mbauc {mbauc.__version__}", "mbauc --version differs")
    command("fit", "rows.csv", "--label", "label", "-o", "fitted.mbauc")
    command("score", "fitted.mbauc", "rows.csv", "-o", "scores.csv")
    check(
        len(Path("scores.csv").read_text(encoding="utf-8").splitlines()) == 3_001, "not every row has a score"
    )
    command("evaluate", "fitted.mbauc", "rows.csv", "--report", "report.html")


def command(*words: str) -> str:
    done = subprocess.run(
        [Path(sys.executable).parent / "mbauc", *words], capture_output=True, text=True, check=False
    )
    check(done.returncode == 0, f"mbauc {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def ask_for_extra(package: str, code: str, extra: str) -> None:
    check(find_spec(package) is None, f"{package} is here, though nothing declares it")
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    check(done.returncode != 0, f"{package} is missing, and nothing says so")
    message = (done.stderr.strip().splitlines() or [""])[-1]
    check(f"mbauc[{extra}]" in message, f"without {package} the error does not name mbauc[{extra}]: {message}")


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        sys.exit(f"smoke: {otherwise}")


if __name__ == "__main__":
    main()
