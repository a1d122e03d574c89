"""What was measured of scores, as commands say it: lines for people, numbers for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbauc.metrics.operating_point import OperatingPoint
    from mbauc.report.by_group import ByGroup
    from mbauc.report.evaluation import Evaluation, Ranking

#: Groups, and levels of a segment, that are shown.
_SHOWN, _LEVELS = 5, 3


def measured_lines(found: Evaluation, own: OperatingPoint | None = None) -> Iterator[str]:
    """What people want to know first."""
    from mbauc.report.text import count

    yield f"rows          {count(found.positives)} positives, {count(found.negatives)} negatives"
    ranking = found.ranking
    if ranking is not None:
        yield f"AUC           {ranking.interval or f'{ranking.auc:.4f}'}"
        for limit, value in ranking.partial.items():
            yield f"              {value:.4f} up to {100 * limit:g}% false alarms (standardised partial AUC)"
        yield from _group_lines(found)
        yield f"precision     {ranking.average_precision:.4f} (average precision)"
        yield from _lift_lines(ranking)
        yield from _segment_lines(found)
    if found.calibration is not None:
        yield f"calibration   error {found.calibration.error:.5f}"
    if own is not None:
        yield (
            f"threshold     {own.threshold:.6g}: {count(own.found)} found ({own.detection.value:.4f}, interval "
            f"{own.detection.low:.4f} to {own.detection.high:.4f}), {count(own.false_alarms)} false alarms "
            f"({own.false_alarm.value:.5f})"
        )


def _group_lines(found: Evaluation) -> Iterator[str]:
    """AUC within groups, and the groups that lose most pairs."""
    from mbauc.checks import truncate
    from mbauc.cli.output import escape_controls
    from mbauc.metrics import AucInterval
    from mbauc.report.text import count

    groups = found.groups
    if groups is None:
        return
    for auc, what in ((groups.pairs, "weighted by pairs"), (groups.alike, "groups weighted equally")):
        yield f"              {auc if isinstance(auc, AucInterval) else f'{auc:.4f}'} within groups, {what}"
    worst = groups.worst
    yield f"groups        {worst.n_groups:,} with both classes; those with the most misranked pairs:"
    names = [truncate(escape_controls(str(name)), 40) for name in worst.group[:_SHOWN]]
    width = max(map(len, names))
    for k, name in enumerate(names):
        interval = "" if worst.low[k] != worst.low[k] else f" ({worst.low[k]:.3f} to {worst.high[k]:.3f})"
        yield (
            f"              {name:{width}}  {worst.lost[k]:6.1%} of them, AUC {worst.auc[k]:.4f}{interval}, "
            f"{count(worst.positives[k])} of {count(worst.rows[k])} rows positive"
        )


def _segment_lines(found: Evaluation) -> Iterator[str]:
    """The worst levels of each segment, and how AUC changes with time."""
    from mbauc.checks import truncate
    from mbauc.cli.output import escape_controls
    from mbauc.report.text import rough_count

    for one in found.segments:
        levels = one.levels
        shown = [k for k in range(len(levels.names)) if levels.auc[k] == levels.auc[k]][:_LEVELS]
        names = [truncate(escape_controls(levels.names[k]), 40) for k in shown]
        width = max(map(len, names), default=0)
        head = f"by {truncate(escape_controls(one.column), 40)}"
        yield f"{head:13} lowest AUC of {len(levels.names)} levels:"
        for k, name in zip(shown, names, strict=True):
            interval = (
                "" if levels.low[k] != levels.low[k] else f" ({levels.low[k]:.3f} to {levels.high[k]:.3f})"
            )
            rows = f"{rough_count(levels.positives[k])} of {rough_count(levels.rows[k])} rows positive"
            yield f"              {name:{width}}  AUC {levels.auc[k]:.4f}{interval}, {rows}"
    if found.time is not None:
        words, colon, numbers = found.time.trend().partition(": ")
        yield f"over time     {words}{colon.rstrip()}"
        if numbers:
            yield f"              {numbers}"


def _lift_lines(ranking: Ranking) -> Iterator[str]:
    for lift in ranking.lifts:
        if lift.share in (0.01, 0.1):
            yield f"lift          {lift.lift:.2f} in the top {lift.share:.0%}, {lift.found:.1%} of positives"


def measured_numbers(found: Evaluation, own: OperatingPoint | None = None) -> dict[str, Any]:
    """The same for scripts."""
    result: dict[str, Any] = {
        "auc": None,
        "rows": found.rows,
        "positives": found.positives,
        "negatives": found.negatives,
        "calibration_error": None if found.calibration is None else found.calibration.error,
        "notes": found.warnings,
        "threshold": None,
    }
    if found.ranking is not None:
        ranking, interval = found.ranking, found.ranking.interval
        result |= {
            "auc": ranking.auc,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "stderr": interval.stderr if interval else None,
            "confidence": interval.confidence if interval else None,
            "partial_auc": {f"{limit:g}": value for limit, value in ranking.partial.items()},
            "average_precision": ranking.average_precision,
            "lift": {f"{lift.share:g}": lift.lift for lift in ranking.lifts},
        }
    if found.groups is not None:
        result["groups"] = _numbers_of_groups(found.groups)
    if found.segments:
        result["segments"] = {one.column: list(one.levels.to_dicts()) for one in found.segments}
    if found.time is not None:
        change = found.time.change
        result["time"] = {
            "column": found.time.column,
            "periods": list(found.time.periods.to_dicts()),
            "worse_at_the_end": found.time.worse,
            "change": None if change is None else asdict(change),
        }
    if own is not None:
        result["threshold"] = {
            "value": own.threshold,
            "detected": own.found,
            "detection_rate": own.detection.value,
            "detection_low": own.detection.low,
            "detection_high": own.detection.high,
            "false_alarms": own.false_alarms,
            "false_alarm_rate": own.false_alarm.value,
            "precision": own.precision.value,
        }
    return result


def _numbers_of_groups(groups: ByGroup) -> dict[str, Any]:
    from mbauc.metrics import AucInterval

    kinds = {"pairs": groups.pairs, "alike": groups.alike}
    worst = groups.worst
    columns = ("group", "rows", "positives", "auc", "low", "high", "share", "lost")
    return {
        "column": groups.column,
        "count": worst.n_groups,
        "one_class": worst.one_class_groups,
        "share_of_pairs": groups.within,
        "auc": {
            name: asdict(auc) if isinstance(auc, AucInterval) else {"auc": auc} for name, auc in kinds.items()
        },
        "worst": [
            dict(zip(columns, row, strict=True))
            for row in zip(*(getattr(worst, name).tolist() for name in columns), strict=True)
        ],
    }
