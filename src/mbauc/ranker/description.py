"""What a ranker did and why, in words."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from mbauc.metrics.intervals import AucInterval
from mbauc.model.model import RankerModel
from mbauc.model.odd_columns import tell_odd_columns
from mbauc.readers.table.columns.plan import ColumnPlan

#: Letters of a line, at most, and where what it says begins.
_WIDTH, _INDENT = 112, 12


def describe_ranker(model: RankerModel, plan: ColumnPlan, auc: AucInterval | None) -> str:
    """Columns, what was chosen, and how it did on rows that it was not trained on."""
    return "\n".join([plan.describe(), "", *_lines(model, auc)])


def _lines(model: RankerModel, auc: AucInterval | None) -> Iterator[str]:
    record = model.trained_on
    negative, positive = model.classes
    yield f"labels      {positive!r} is positive, {negative!r} negative"
    if "choice" in record:
        yield _wrap("selected", record["choice"])
    if "positives" in record:
        yield f"trained on  {record['positives']:,.0f} positives and {record['negatives']:,.0f} negatives"
    tested = record.get("tested")
    within = isinstance(tested, dict) and "within_groups_low" in tested
    where = f" within each {model.group!r}" if within else ""
    if auc is not None:
        yield f"test AUC    {auc}{where}"
    elif isinstance(tested, dict) and "auc" in tested:
        names = [f"within_groups{end}" for end in ("", "_low", "_high")] if within else ["auc", "low", "high"]
        value, low, high = (tested[name] for name in names)
        yield f"test AUC    {value:.4f} (95% interval {low:.4f} to {high:.4f}){where}"
    if isinstance(tested, dict) and "rows" in tested:
        yield f"            on {tested['rows']}"
    if model.threshold is not None and model.threshold.false_alarm is not None:
        cut = model.threshold
        yield (
            f"threshold   {cut.value:.6g}: at most {cut.false_alarm:.3g} of the negatives raise an alarm, with "
            f"{cut.confidence:.3g} confidence"
        )
    for sentence in tell_odd_columns(record):
        yield _wrap("note", sentence)
    for note in record.get("notes", []):
        yield _wrap("note", note)


def _wrap(head: str, text: str) -> str:
    """A sentence in lines that fit a page, below each other."""
    return fill(
        text,
        _WIDTH,
        initial_indent=head.ljust(_INDENT),
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
