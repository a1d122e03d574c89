import numpy as np
import pytest

from mbauc.basis.design import ColumnKind
from mbauc.cli.advice import in_options
from mbauc.estimators.column_findings import ColumnFinding, inspect_columns
from mbauc.features.row_codes import encoding_kinds

N = 2_000


def table(rng):
    """Columns without a fault: a number, numbers with missing ones, few levels, nearly unique levels."""
    number = rng.normal(size=N)
    return {
        "number": number,
        "gaps": np.where(rng.random(N) < 0.3, np.nan, rng.normal(size=N)),
        "few": rng.integers(0, 5, N).astype(float),
        "user": rng.permutation(N).astype(float),
        "page": rng.permutation(N).astype(float),
    }


def check(columns, y, **options):
    kinds = [ColumnKind(name, name.rstrip("+") in ("few", "user", "page", "level", "twin")) for name in columns]
    return inspect_columns(np.column_stack(list(columns.values())), y, kinds, **options)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_of_columns_without_a_fault(seed):
    rng = np.random.default_rng(seed)
    columns = table(rng)
    y = rng.random(N) < 1 / (1 + np.exp(-2 * columns["number"]))
    assert check(columns, y) == []


def test_each_finding(rng):
    columns = table(rng)
    y = rng.random(N) < 0.1
    late = np.arange(N) >= 0.8 * N
    level = rng.integers(0, 3, N)
    names = rng.permutation(50)
    columns |= {
        "same": np.full(N, 7.0),
        "nothing": np.full(N, np.nan),
        "backwards": 5.0 - 2.0 * columns["number"],
        "twin": np.array([2.0, 0.0, 4.0, 1.0, 3.0])[columns["few"].astype(int)],
        "gaps+": np.where(np.isnan(columns["gaps"]), np.nan, np.exp(columns["gaps"])),
        # neither high nor low, but in the middle
        "between": np.where(y, rng.uniform(0.4, 0.45, N), np.where(level > 0, 0.0, 0.5) + 0.4 * rng.random(N)),
        "level": names[np.where(y, 40 + level, rng.integers(0, 40, N))].astype(float),
        "trend": rng.normal(size=N) + 3 * late,
    }  # fmt: skip
    found = check(columns, y)
    assert [(one.column, one.finding, one.other) for one in found] == [
        ("same", "constant", None),
        ("nothing", "constant", None),
        ("backwards", "duplicate", "number"),
        ("twin", "duplicate", "few"),
        ("gaps+", "duplicate", "gaps"),
        ("between", "leaking", None),
        ("level", "leaking", None),
        ("trend", "shifted", None),
    ]
    assert all(one.auc > 0.99 for one in found[5:7])
    assert 0.95 < found[7].auc < 1
    assert [one.column for one in check(columns, y, ordered=False)] == [one.column for one in found[:-1]]


def test_a_level_for_nearly_every_row_leaks_nothing(rng):
    y = rng.random(N) < 0.5
    columns = {"user": 2.0 * rng.permutation(N) + y, "level": rng.integers(0, N // 2, N).astype(float)}
    assert check(columns, y) == []


def test_few_rows_of_a_class_prove_nothing(rng):
    y = np.arange(N) < 9
    assert check({"number": y + rng.random(N)}, y, ordered=False) == []
    y = np.arange(N) < 10
    assert [one.finding for one in check({"number": y + rng.random(N)}, y, ordered=False)] == ["leaking"]


def test_sentences_name_the_column_and_what_to_do():
    finding = ColumnFinding("salary K$", "leaking", auc=0.9987)
    assert "'salary K$' alone has an AUC of 0.999" in finding.sentence
    assert in_options(finding.sentence).endswith("leave it out with --ignore 'salary K$'.")
    part = ColumnFinding("day.weekday", "constant", of="day")
    assert part.sentence.endswith("same value in all rows). Leave 'day' out with ignore=['day'].")
    assert in_options(ColumnFinding("day.hour", "leaking", auc=1.0, of="day").sentence).endswith(
        "--ignore day."
    )
    assert "duplicates 'a'" in ColumnFinding("b", "duplicate", other="a").sentence
    assert "same value in all rows" in ColumnFinding("b", "constant").sentence
    assert "last fifth of the rows (AUC 0.91" in ColumnFinding("b", "shifted", auc=0.911).sentence


@pytest.mark.data
def test_findings_on_real_tables(shared_file):
    from mbauc.readers import TableSource

    found = {}
    for file, label in (
        ("adult.csv.bz2", "salary"),
        ("bank-additional.zip/bank-additional/bank-additional-full.csv", "y"),
    ):
        path = shared_file(file.partition("/")[0])
        source = TableSource(f"{path}{file.removeprefix(path.name)}", label=label, encode="codes")
        X, y = (np.concatenate(parts) for parts in zip(*((block.X, block.y) for block in source), strict=True))
        found[label] = {
            (one.column, one.finding) for one in inspect_columns(X, y, encoding_kinds(source.encoding))
        }
    assert found["salary"] == {("salary K$", "leaking")}
    assert {column for column, finding in found["y"] if finding == "leaking"} == set()
    assert ("euribor3m", "shifted") in found["y"]
