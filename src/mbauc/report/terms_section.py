"""The section of a report about curves and interactions: what scores are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbauc.estimators.additive.auc_without import AucWithout
from mbauc.estimators.additive.labels import format_log_odds
from mbauc.estimators.additive.terms import AdditiveTerms, Curve, HeatMap, Level
from mbauc.report.pieces import Section, bar, fold, importance_table, rough_share, side_by_side, table
from mbauc.report.term_figures import ERRORS, curve_ends, curve_plot, heat_map_svg
from mbauc.report.text import escape, escape_name

if TYPE_CHECKING:
    from mbauc.model import RankerModel

#: Curves that are drawn, heat maps that are drawn, and levels of a category.
_CURVES, _HEAT_MAPS, _LEVELS = 16, 6, 14


def model_terms(model: RankerModel) -> AdditiveTerms | None:
    """Curves and heat maps of a model; None for one that has none, or does not tell how rows spread."""
    found = model.terms
    if found is None or found.feature_shares is None:
        return None
    return found.describe(model.coef, model.slope)


def terms_section(terms: AdditiveTerms, without: AucWithout | None = None) -> Section:
    """The section of the page; with ``without``, by column, the AUC that each is worth on these rows."""
    curves = [one for one in terms.ranked() if isinstance(one, Curve)]
    heat_maps = [one for one in terms.ranked() if isinstance(one, HeatMap)]
    text = (
        "<p>A score is the sum of the effects of single columns and of interactions of two columns. Effects "
        "are log-odds relative to an average row: +0.69 doubles the odds, −0.69 halves them. The confidence "
        "intervals are pointwise, for the given penalties. A curve spans the range of the training values "
        "and is constant beyond it. The grey histogram shows the distribution of the rows.</p>"
    )
    if not curves and not heat_maps:
        return Section(
            "terms", "Curves and interactions", "<p>All effects are zero: no column changes the score.</p>"
        )
    drawn = curves[:_CURVES]
    lines = [one for one in drawn if one.kind == "numeric" and not _as_bars(one)]
    ends = curve_ends(lines) if lines else (-1.0, 1.0)
    values = [level.value for one in drawn if _as_bars(one) for _, level in _shown_levels(one)]
    most = max(map(abs, values), default=0.0) or 1.0
    figures = [_figure(f"curve-{k}", one, ends, most) for k, one in enumerate(drawn)]
    inner = [Section("curves", "Effects of single columns", side_by_side(*figures))] if figures else []
    left_out = len(curves) - len(drawn)
    if left_out:
        note = f'<p class="soft">The {left_out} least important columns are not shown.</p>'
        inner[0] = inner[0]._replace(content=inner[0].content + note)
    if heat_maps:
        inner.append(_interactions(heat_maps))
    return Section("terms", "Curves and interactions", text + _importance(terms, without), tuple(inner))


def _importance(terms: AdditiveTerms, without: AucWithout | None) -> str:
    found = {name: value for name, value in terms.column_importance().items() if value > 0}
    lost = {} if without is None else dict(zip(without.names, without.lost.tolist(), strict=True))
    text = (
        "Importance of each column: standard deviation of its effect on the log-odds over the rows, including"
    )
    text += " interactions" + ("; and the change of the AUC of these rows without the column." if lost else ".")
    return importance_table(text, found, lost)


def _figure(name: str, curve: Curve, ends: tuple[float, float], most: float) -> str:
    """A curve between the same ``ends`` as others, or levels whose bars are as long as others' for ``most``."""
    title = f"<h3>{escape_name(curve.name, 60)}</h3>"
    if _as_bars(curve):
        return f"<figure>{title}{_bars(curve, most)}</figure>"
    text = f"Importance {curve.importance:.3f}."
    if curve.missing is not None:
        one = curve.missing
        text += f" Missing values ({rough_share(one.share)} of the rows) add {format_log_odds(one.value)}."
    levels = [
        (escape(label), format_log_odds(level.value), f"{ERRORS * level.error:.2f}", rough_share(level.share))
        for label, level in curve.levels()
    ]
    shown = "" if curve.straight else fold(table("Effects", ("Value", "Log-odds", "±", "Rows"), levels))
    drawn = curve_plot(curve, ends).svg(name)
    return f'<figure>{title}{drawn}<figcaption id="{name}">{text}</figcaption>{shown}</figure>'


def _as_bars(curve: Curve) -> bool:
    return curve.kind == "category" or curve.has_few_values


def _shown_levels(curve: Curve) -> list[tuple[str, Level]]:
    """The most frequent levels: those of a category sorted by what they add, values in their order."""
    levels = curve.levels()
    kept = sorted(range(len(levels)), key=lambda k: -levels[k][1].share)[:_LEVELS]
    shown = [levels[k] for k in sorted(kept)]
    if curve.kind == "category":
        shown.sort(key=lambda entry: -entry[1].value)
    return shown


def _bars(curve: Curve, most: float) -> str:
    """Levels with their bars, which have their full length at ``most`` log-odds."""
    shown = _shown_levels(curve)
    rows = "".join(
        f'<tr><th scope="row">{escape_name(label, 40)}</th><td>{bar(level.value / most)}</td>'
        f"<td>{format_log_odds(level.value)} ± {ERRORS * level.error:.2f}</td>"
        f"<td>{rough_share(level.share)}</td></tr>"
        for label, level in shown
    )
    left_out = len(curve.levels()) - len(shown)
    note = f'<p class="soft">{left_out} less frequent levels are not shown.</p>' if left_out else ""
    return (
        '<table class="weights levels"><thead><tr><th scope="col">Value</th><td></td>'
        '<th scope="col">Log-odds</th><th scope="col">Rows</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>{note}"
    )


def _interactions(heat_maps: list[HeatMap]) -> Section:
    text = (
        "<p>Joint effect of two columns beyond the sum of their single effects. Blue raises the score, brown "
        "lowers it; each heat map has its own colour scale. Cells with a dashed frame contain no rows.</p>"
    )
    figures = []
    for k, one in enumerate(heat_maps[:_HEAT_MAPS]):
        seen = one.shares > 0
        low, high = float(one.values[seen].min()), float(one.values[seen].max())
        caption = f"From {format_log_odds(low)} to {format_log_odds(high)}; importance {one.importance:.3f}."
        figures.append(
            f"<figure><h3>{escape_name(one.name, 80)}</h3>{heat_map_svg(one, f'heat-{k}')}"
            f'<figcaption id="heat-{k}">{caption}</figcaption></figure>'
        )
    rest = heat_maps[_HEAT_MAPS:]
    more = ""
    if rest:
        rows = [(escape_name(one.name, 80), f"{one.importance:.3f}") for one in rest]
        more = fold(
            table("Less important interactions", ("Columns", "Importance"), rows, named=True),
            f"{len(rest)} more",
        )
    return Section("interactions", "Interactions", text + side_by_side(*figures) + more)
