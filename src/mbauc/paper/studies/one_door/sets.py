"""The tables of the study, as pandas reads their files, and what their columns are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from mbauc.paper.studies.tables.sets import GIVEAWAYS, RAW_FILES, Rows, Table
from mbauc.paper.studies.tables.sets import TABLES as TIDY

#: Kind of a column that may be taken for a number or a category: it has two values, or few numbers in order.
EITHER = "either"
_PAYMENTS = "PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6"
#: By table, what its columns are by the descriptions of who published it, as names by kind.
_KINDS: dict[str, dict[str, str]] = {
    "bank": {
        "numeric": "age duration campaign pdays previous emp.var.rate cons.price.idx cons.conf.idx euribor3m "
        "nr.employed",
        "category": "job marital education default housing loan contact month day_of_week poutcome",
    },
    "adult": {
        "id": "Unnamed:_0",
        "numeric": "age hours-per-week",
        "category": "workclass education marital-status occupation relationship race sex native-country",
    },
    "credit": {
        "id": "ID",
        "numeric": "LIMIT_BAL AGE "
        + " ".join(f"{what}_AMT{month}" for what in ("BILL", "PAY") for month in range(1, 7)),
        "category": "EDUCATION MARRIAGE",
        EITHER: f"SEX {_PAYMENTS}",
    },
    "telco": {
        "id": "customerID",
        "numeric": "tenure MonthlyCharges TotalCharges",
        "category": "gender Partner Dependents PhoneService MultipleLines InternetService OnlineSecurity "
        "OnlineBackup DeviceProtection TechSupport StreamingTV StreamingMovies Contract PaperlessBilling "
        "PaymentMethod",
        EITHER: "SeniorCitizen",
    },
    "avazu": {
        "id": "id",
        "time": "hour",
        "category": "C1 banner_pos site_id site_domain site_category app_id app_domain app_category device_id "
        "device_ip device_model device_type device_conn_type "
        + " ".join(f"C{number}" for number in range(14, 22)),
    },
    "criteo": {
        "numeric": " ".join(f"I{number}" for number in range(1, 14)),
        "category": " ".join(f"C{number}" for number in range(1, 27)),
    },
}
#: Kind of each column, by table and column.
EXPECTED: Mapping[str, Mapping[str, str]] = {
    table: {name.replace(":_", ": "): kind for kind, names in kinds.items() for name in names.split()}
    for table, kinds in _KINDS.items()
}


def is_right(table: str, column: str, kind: str) -> bool:
    """Whether a column of a table is what it was taken for; columns left out are as good as ids."""
    expected = EXPECTED[table][column]
    if expected == EITHER:
        return kind in ("numeric", "category")
    return {"ignore": "id", "group": "id"}.get(kind, kind) == expected


def _read_as_is(name: str, folder: Path | None) -> Rows:
    frame, y = RAW_FILES[name].read(folder)
    return Rows(frame.drop(columns=list(GIVEAWAYS.get(name, ()))), y)


def _read_numbers(name: str, folder: Path | None) -> Rows:
    """A table of numbers as a frame, which is what a file of it would give."""
    import pandas as pd

    rows = TIDY[name].read(folder)
    columns = [f"x{place}" for place in range(1, rows.X.shape[1] + 1)]
    test = None if rows.X_test is None else pd.DataFrame(rows.X_test, columns=columns)
    return rows._replace(X=pd.DataFrame(rows.X, columns=columns), X_test=test)


#: Raw files without all their rows.
_PARTS = {"avazu": "the first 9,999 rows", "criteo": "the first 8,000 rows; the file has no column names"}
#: Tables of numbers.
_NUMBERS = ("german", "svmguide3", "mammography", "madelon", "a9a")
TABLES = {
    **{
        name: Table(
            name,
            raw.entry.source,
            partial(_read_as_is, name),
            GIVEAWAYS.get(name, {}),
            _PARTS.get(name, ""),
        )
        for name, raw in RAW_FILES.items()
    },
    **{
        name: Table(name, TIDY[name].source, partial(_read_numbers, name), note="numeric columns only")
        for name in _NUMBERS
    },
}
