"""The plan of a table: what each of its columns is, why, and how to say otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mbauc.errors import Advice
from mbauc.readers.table.columns.arguments import (
    FEATURES,
    ORDERS,
    check_types,
    collect_kinds,
    name_asked,
    no_such_column,
)
from mbauc.readers.table.columns.guess import Guess, guess
from mbauc.readers.table.columns.label_evidence import Array, read_two_labels
from mbauc.readers.table.columns.number_texts import MISSING_NUMBERS
from mbauc.readers.table.columns.times import form_of_type, parts_of, possible_forms
from mbauc.readers.table.columns.values import WrongTypeError, flatten, is_text

Judge = Callable[[str, Any, Array | None], Guess]


@dataclass(frozen=True)
class Column:
    """One column of a plan.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        ``"label"``, ``"weight"``, or one of ``"numeric"``, ``"category"``, ``"text"``, ``"time"`` (these are
        features) and ``"group"``, ``"id"``, ``"ignore"`` (these are not).
    why : str
        Why it is taken for that.
    spelling, form : str
        What its values are; see :class:`~mbauc.readers.table.columns.guess.Guess`.
    becomes : str
        What it becomes in the matrix.
    doubt : str
        What makes a guess about it doubtful; empty if nothing does.
    """

    name: str
    kind: str
    why: str
    spelling: str = "text"
    form: str = ""
    becomes: str = ""
    doubt: str = ""

    @property
    def is_feature(self) -> bool:
        """Whether it becomes columns of the matrix."""
        return self.kind in FEATURES

    @property
    def text_names(self) -> list[str]:
        """Names of the texts that it gives: its own, its parts' if it is a time, none if numeric."""
        if self.kind == "time":
            return [f"{self.name}.{part}" for part in parts_of(self.form)]
        return [self.name] if self.kind in ("category", "text") else []


@dataclass(frozen=True)
class ColumnPlan:
    """What each column of a table is, and how many rows were looked at; 0 if the columns were known."""

    columns: tuple[Column, ...]
    rows: int

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns that become features."""
        return tuple(column for column in self.columns if column.is_feature)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def with_widths(self, becomes: Mapping[str, str]) -> ColumnPlan:
        """The same plan that also says what features become."""
        columns = (replace(c, becomes=becomes.get(c.name, c.becomes)) for c in self.columns)
        return replace(self, columns=tuple(columns))

    @property
    def basis(self) -> str:
        """What the plan rests on."""
        return f"inferred from the first {self.rows:,} rows" if self.rows else "known from other data"

    def describe(self) -> str:
        """The plan as a table for people: each column, what it is seen as, why, and how to override it."""
        lines = [("column", "seen as", "why", "becomes", "override")]
        lines += [
            (column.name, column.kind, column.why, column.becomes or "-", override_advice(column))
            for column in self.columns
        ]
        widths = [max(len(line[place]) for line in lines) for place in range(4)]
        texts = (
            "  ".join(
                [*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[4]]
            ).rstrip()
            for line in lines
        )
        return "\n".join([*texts, f"({self.basis})"])


class NoFeatureError(ValueError):
    """A table has no column that could be a feature.

    Attributes
    ----------
    plan : ColumnPlan
        What its columns are instead.
    """

    def __init__(self, plan: ColumnPlan, where: str) -> None:
        self.plan, self.where = plan, where
        super().__init__(
            f"{where} has no column that could be a feature; each of its {len(plan.columns)} columns is left "
            f"out:\n{plan.describe()}"
        )

    def __reduce__(self) -> tuple[type, tuple[ColumnPlan, str]]:
        return type(self), (self.plan, self.where)


def override_advice(column: Column) -> Advice:
    """What overrides the guess about a column."""
    if column.kind in ("label", "weight"):
        return Advice.of_argument(column.kind, ...)
    if column.kind == "category" and column.spelling in ("text", "truth"):
        return Advice("{ignore}", ignore=[column.name])
    other = "numeric" if column.kind == "category" else "category"
    if column.kind == "ignore" and column.form.startswith(ORDERS):  # dates whose order is unclear
        other = column.form.split()[0]
    return Advice("{types}", types={column.name: other})


def plan_columns(
    table: Any,
    *,
    label: str | None,
    weight: str | None = None,
    group: str | None = None,
    cluster: str | None = None,
    types: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    id: Sequence[str] = (),
    left_out: Mapping[str, str] | None = None,
    judge: Judge = guess,
    where: str = "the table",
) -> ColumnPlan:
    """Decide for each column of a table what it is.

    What the user says comes first; :func:`~mbauc.readers.table.columns.guess.guess` has the rules for the rest.
    ``O(n log n)`` time for each column.

    Parameters
    ----------
    table : Arrow table
        The first rows.
    label, weight, group, cluster : str or None
        Names of the columns with labels, row weights, groups, and what rows belong to.
    types : mapping from names to kinds, optional
        ``"numeric"``, ``"category"``, ``"text"`` (short free texts), ``"time"``, ``"day-first"`` and
        ``"month-first"`` (times as texts with the year at last), ``"group"``, ``"id"`` or ``"ignore"``.
    ignore, id : sequence of str
        Columns to leave out; ``id`` only says why.
    left_out : mapping from names to reasons, optional
        Columns that are left out unless the user says what they are. Some may be missing from the table.
    judge : callable
        What a column is where nobody says so, given its name, its values and, if there are two, labels.
    where : str, default="the table"
        The file, for errors.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mbauc.readers.table.columns.plan import plan_columns
    >>> table = pa.table({"click": [0, 1], "site": ["a", "b"], "bid": [0.3, 0.1], "page": [3, 1]})
    >>> print(plan_columns(table, label="click", types={"page": "category"}).describe())
    column  seen as   why                     becomes  override
    click   label     set by user             -        label=…
    site    category  texts                   -        ignore=['site']
    bid     numeric   floating-point numbers  -        types={'bid': 'category'}
    page    category  set by user             -        types={'page': 'numeric'}
    (inferred from the first 2 rows)
    """
    names = list(table.column_names)
    present = set(names)
    left_out = left_out or {}
    check_types(types)
    named = {"label": label, "weight": weight, "group": group, "cluster": cluster}
    said = collect_kinds(named, types or {}, ignore, id)
    for name, (_, how) in said.items():
        if name not in present:
            raise ValueError(no_such_column(name_asked(name, how), name, names, where))
    y = read_two_labels(table[label]) if label is not None else None
    columns = []
    for name in [*names, *(name for name in left_out if name not in present)]:
        kind, _ = said.get(name, (None, None))
        if kind is None and name in left_out:
            columns.append(Column(name, "ignore", left_out[name]))
        elif kind is None or kind in (*FEATURES, *ORDERS):
            found = _guess_column(judge, name, table[name], y, where)
            columns.append(
                _column_as_guessed(name, found)
                if kind is None
                else _column_as_said(name, kind, found, table[name], where)
            )
        else:
            columns.append(Column(name, kind, "set by user"))
    plan = ColumnPlan(tuple(columns), table.num_rows)
    for column in plan.features:
        part = next((part for part in parts_of(column.form) if f"{column.name}.{part}" in present), None)
        if column.kind == "time" and part is not None:
            raise ValueError(
                f"{where}: column {column.name!r} is a time and would become {f'{column.name}.{part}'!r}, "
                "which is the name of another column. Rename that one, or leave one of the two out."
            )
    if not plan.features:
        raise NoFeatureError(plan, where)
    return plan


def plan_known_columns(
    names: Sequence[str], known: Iterable[Column], said: Mapping[str, str | None], where: str
) -> ColumnPlan:
    """The plan of a table with these names, whose features are known from other data.

    ``said`` are the columns of label, weight and group, if any.
    """
    present = set(names)
    for what, name in said.items():
        if name is not None and name not in present:
            raise ValueError(no_such_column(f"the {what} {name!r}", name, names, where))
    features = {column.name: column for column in known}
    kinds = {name: what for what, name in said.items()}
    columns = [
        features.get(name) or Column(name, kinds.get(name, "ignore"), "the encoding does not use it")
        for name in names
    ]
    columns += [column for name, column in features.items() if name not in present]
    return ColumnPlan(tuple(columns), 0)


def _guess_column(judge: Judge, name: str, values: Any, y: Array | None, where: str) -> Guess:
    try:
        return judge(name, values, y)
    except WrongTypeError as error:
        raise ValueError(
            f"{where}: column {name!r} holds {error}. "
            + Advice("Leave it out with {ignore}, or make texts of it first.", ignore=[name])
        ) from None


def _column_as_guessed(name: str, found: Guess) -> Column:
    return Column(name, found.kind, found.why, found.spelling, found.form, doubt=found.doubt)


def _column_as_said(name: str, kind: str, found: Guess, column: Any, where: str) -> Column:
    """A feature that the user says something about; how its values are spelled is still looked up."""
    if kind in ORDERS:
        return Column(name, "time", "set by user", found.spelling, _form_in_order(name, kind, column, where))
    form = found.form if found.kind == kind or (kind == "numeric" and found.kind == "category") else ""
    if kind == "time" and not form:
        form = form_of_type(column.type) or ""
        if not form:
            example = next((value for value in column.to_pylist() if value not in (None, "")), None)
            if not is_text(flatten(column).type) or example is not None:
                raise ValueError(
                    f"{where}: column {name!r} should be a time, but holds {example!r}; expected a timestamp, "
                    "ISO 8601 such as '2014-10-21 05:00', or whole numbers such as 14102105 (YYMMDDHH). "
                    + Advice(
                        "Dates that end with the year need {types}, or month-first.", types={name: "day-first"}
                    )
                )
            form = "timestamp"
    return Column(name, kind, "set by user", found.spelling, form)


def _form_in_order(name: str, order: str, column: Any, where: str) -> str:
    """The form of texts that are dates with day and month in this order."""
    values = flatten(column)
    texts = [text.strip() for text in values.unique().to_pylist() if text] if is_text(values.type) else []
    texts = [text for text in texts if text not in MISSING_NUMBERS]
    form = next((form for form in possible_forms(texts) if form.startswith(order)), None)
    if form is None:
        example = next(iter(texts), None)
        raise ValueError(
            f"{where}: column {name!r} should be {order} dates that end with the year, such as "
            f"{'21.10.2014' if order == 'day-first' else '10/21/2014'!r}, but holds other values"
            + (f" ({example!r} is the first value)." if example else ".")
        )
    return form
