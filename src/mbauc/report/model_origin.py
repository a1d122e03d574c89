"""A ranker as the origin of scores: its weights or curves, its training, its threshold."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from mbauc.estimators.additive.auc_without import auc_without
from mbauc.metrics.curves import PenaltyPath, penalty_path
from mbauc.metrics.operating_point import START, OperatingPoint
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.thresholds import ThresholdTable
from mbauc.report import figures
from mbauc.report.explained_rows import explain_rows, rows_section
from mbauc.report.origin import Facts, Origin
from mbauc.report.pieces import Section, bar, figure, fold, importance_table, table, with_sign
from mbauc.report.terms_section import model_terms, terms_section
from mbauc.report.text import count, escape_name, number, score_text, short_percent
from mbauc.report.training_facts import training_facts, weight_meaning
from mbauc.report.warnings import about_model, about_thresholds

if TYPE_CHECKING:
    from mbauc.model import RankerModel, Threshold

#: Weights that are shown.
_WEIGHTS = 25
#: Facts of the training that mean something to everybody.
_FOR_ALL = (
    *("Trained on", "Training finished", "Training positives", "Training negatives", "Tested"),
    "Training: notes",
)


@dataclass(frozen=True)
class ModelOrigin(Origin):
    """Scores of a ranker.

    Attributes
    ----------
    model : RankerModel
        Which one.
    X : matrix or callable, optional
        The rows in its columns, or what gives some of them by their numbers.
    deviations : mapping of str to float
        By how much each column of the table moves scores, of a linear model; found from X where it can be.
    model_name : str
        File of the model, for commands.
    data_files : sequence of str
        Files of the rows, for commands.
    """

    model: RankerModel = field(kw_only=True)
    X: Any = None
    deviations: Mapping[str, float] = field(default_factory=dict)
    model_name: str = ""
    data_files: Sequence[str] = ()

    @property
    def threshold(self) -> Threshold | None:
        """The model's own threshold."""
        return self.model.threshold

    @cached_property
    def path(self) -> PenaltyPath | None:
        """Penalties that were tried."""
        return penalty_path(self.model.path)

    def probabilities(self, ranked: RankedScores) -> RankedScores | None:
        """Those of the model, unless others were given."""
        if self.given is not None:
            return super().probabilities(ranked)
        if self.model.slope >= 0:
            return ranked.map_increasing(self.model.probability)
        return RankedScores(ranked.positive, self.model.probability(ranked.values), ranked.weight)

    def notes(self, table: ThresholdTable | None) -> Iterator[str]:
        """A promise that is not kept, weights that are zero, penalties at an end."""
        if table is not None:
            yield from about_thresholds(table, self.model)
        yield from about_model(self.model, self.path)

    def sections(self, ranked: RankedScores) -> Iterator[Section]:
        """Weights or curves, and some rows explained."""
        terms, without = model_terms(self.model), None
        explained = []
        if self.X is not None and self.model.terms is not None:
            X = self.X
            take: Callable[[Any], Any] = X if callable(X) else lambda rows: X[rows]
            explained = explain_rows(self.model, ranked.positive, ranked.values, take)
            if not callable(X) and all(part.values.size for part in ranked.classes):
                without = auc_without(
                    self.model.scorer, X, ranked.positive, by="column", sample_weight=ranked.weight
                )
        if terms is None:
            columns = _columns_html(self.deviations or self._deviations(ranked), self.model.slope)
            yield Section("weights", "Weights", columns + _weights(self.model))
        else:
            yield terms_section(terms, without)
        if explained:
            yield rows_section(explained, self.model.classes)

    def _deviations(self, ranked: RankedScores) -> dict[str, float]:
        """From rows in memory, where columns of the matrix belong to one column of a table each."""
        encoding = getattr(self.model.layout, "encoding", None)
        if self.X is None or callable(self.X) or encoding is None or self.model.terms is not None:
            return {}
        return dict(encoding.column_deviations(self.X, self.model.coef, ranked.weight))

    def facts(self, ranked: RankedScores) -> tuple[Facts, Facts, str]:
        """What it was trained on, and how."""
        model = self.model
        weights = f"{int((model.coef != 0).sum()):,}"
        if model.terms is None:
            columns = f"{model.coef.size:,}, {weights} with a weight"
        else:
            pairs = len(model.terms.features.pairs)
            columns = f"{model.layout.n_features:,} and {pairs:,} interactions, {weights} weights"
        general, technical = (
            [("Columns", columns)],
            [
                ("Objective", escape_name(model.describe_objective())),
                *([("Requested", escape_name(asked, 500))] if (asked := model.describe_asked()) else []),
                ("Penalties", f"l1 = {number(model.l1)}, l2 = {number(model.l2)}"),
                ("Log-odds per unit of score", number(model.slope)),
            ],
        )
        if model.threshold:
            technical.append(("Model’s threshold", score_text(model.threshold.value)))
        for name, value in training_facts(model.trained_on):
            (general if name in _FOR_ALL else technical).append((escape_name(name), escape_name(value, 500)))
        return general, technical, _path(self.path, model) if self.path else ""

    def about_threshold(self) -> str:
        """What the model's own threshold promises."""
        own = self.model.threshold
        if own is None:
            return ""
        if own.false_alarm is None or own.confidence is None:
            words = own.describe()
            return escape(words[0].upper() + words[1:]) + "."
        return (
            f"Set on {count(own.negatives)} negative rows: on new rows the false-alarm rate is at most "
            f"{short_percent(own.false_alarm)}, with {short_percent(own.confidence)} confidence."
        )

    def rule(self, at: OperatingPoint) -> str:
        """The command that sets the threshold; the script changes its option."""
        model, data = _word(self.model_name) or "MODEL", [_word(name) for name in self.data_files]
        rows = " ".join(data) if data and all(data) else "DATA"
        stem = PurePath(PurePath(self.model_name).name).stem if _word(self.model_name) else ""
        out = escape(shlex.quote(f"{stem}-alarm.mbauc")) if stem else "alarm.mbauc"
        asked = f"--false-alarm {START:g}" if self.threshold is None else f"--at={at.cut!r}"
        hidden = " hidden" if self.threshold is not None else ""
        return (
            f'<span>mbauc threshold {model}</span> <span id="command-data"{hidden}>{rows}</span> '
            f'<span id="command-option">{asked}</span> <span>-o {out}</span>'
        )


def _word(path: str) -> str:
    """The name of a file as a word of a shell; empty if it has signs that must not get into a terminal."""
    name = PurePath(path).name if path.isprintable() else ""
    return escape(shlex.quote(f"./{name}" if name.startswith("-") else name)) if name else ""


def _columns_html(deviations: Mapping[str, float], slope: float) -> str:
    """Columns of the table by how much they move scores."""
    size = abs(slope) if slope and math.isfinite(slope) else 1.0
    found = {name: size * value for name, value in deviations.items() if value > 0}
    if not found:
        return ""
    found = dict(sorted(found.items(), key=lambda item: -item[1]))
    text = (
        "Importance of each column of the table: standard deviation of its contribution to the log-odds over "
        "these rows."
    )
    return importance_table(text, found)


def _weights(model: RankerModel) -> str:
    used, columns = int(np.count_nonzero(model.coef)), model.n_features
    if not used:
        return f"<p>All {columns:,} weights are zero.</p>"
    text = f"The {_WEIGHTS} largest of {used:,}" if used > _WEIGHTS else f"All {used:,}"
    text += f" nonzero weights of {columns:,} columns." if used < columns else " weights."
    largest, (scales, _) = float(np.abs(model.coef).max()), model.scales()
    shown = list(islice(model.largest_weights(), _WEIGHTS))
    scaled = any(scales[column] != 1 for column, *_ in shown)
    more = (
        "; the last column is the weight per unit." if scaled else "; compare only columns with the same unit."
    )
    rows = ""
    for column, name, weight in shown:
        rows += (
            f'<tr><th scope="row">{escape_name(name, 80)}</th><td>{bar(weight / largest)}</td>'
            f"<td>{with_sign(weight)}</td>"
        )
        if scaled:
            rows += f"<td>{with_sign(weight / scales[column]) if scales[column] != 1 else ''}</td>"
        rows += "</tr>"
    last = '<th scope="col">Per unit</th>' if scaled else ""
    return (
        f"<p>{text} Bars to the right raise the score. {weight_meaning(model)}{more}</p>"
        '<table class="weights"><thead><tr><th scope="col">Column</th><td></td><th scope="col">Weight</th>'
        f"{last}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _path(path: PenaltyPath, model: RankerModel) -> str:
    chosen, other = (model.l2, "l1") if path.name == "l2" else (model.l1, "l2")
    measure = model.describe_measure()
    text = f"Held-out {escape_name(measure)} in cross-validation; {path.name} = {number(chosen)} was selected."
    kind = "AUC" if model.region.is_whole else "partial AUC"
    if path.other_varied:
        text += f" For each {path.name} the best {other} is shown."
    rows = []
    for entry in path.entries:
        error = entry.get("stderr")
        scored = (f"{entry['score']:.5f}", "–" if error is None else f"{error:.5f}")
        rows.append((number(entry["l1"]), number(entry["l2"]), *scored))
    shown = table("Penalties compared", ("l1", "l2", f"Held-out {kind}", "Standard error"), rows)
    return figure("path-plot", figures.path_plot(path.entries, path.name, chosen, kind), text, fold(shown))
