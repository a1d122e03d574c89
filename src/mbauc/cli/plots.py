"""Pictures of a model in a folder: ``mbauc inspect --plots``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc.cli.output import Usage

if TYPE_CHECKING:
    from mbauc.estimators.additive.terms import AdditiveTerms
    from mbauc.model import RankerModel

#: Pictures of curves, and of heat maps, at most.
_MOST = 40
#: What no name of a file should hold.
_ODD = re.compile(r"[^\w-]+")


def check_folder(folder: Path, force: bool) -> None:
    """Raise unless pictures may be written to a folder: it is not there, is empty, or may be written over."""
    if folder.exists() and not folder.is_dir():
        raise Usage(f"--plots {folder} is not a folder; choose another one.")
    if not folder.exists() and not folder.parent.is_dir():
        raise Usage(f"--plots {folder}: the folder {folder.parent} does not exist.")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise Usage(f"--plots {folder} is not empty; name another folder, or pass --force to write to it.")


def write_plots(model: RankerModel, folder: Path) -> list[str]:
    """Write pictures of a model, each as PNG and SVG; returns the names of the files."""
    from mbauc.plots import save_figure
    from mbauc.report.terms_section import model_terms

    terms = model_terms(model)
    pictures = _weights(model) if terms is None else _terms(terms)
    written = []
    for name, figure in pictures:
        folder.mkdir(exist_ok=True)
        for ending in (".png", ".svg"):
            save_figure(figure, folder / (name + ending))
            written.append(name + ending)
    return written


def _weights(model: RankerModel) -> Iterator[tuple[str, Any]]:
    from mbauc.plots import WeightsDisplay

    yield "weights", WeightsDisplay(model.feature_names(), model.coef).plot(top=30).figure_


def _terms(terms: AdditiveTerms) -> Iterator[tuple[str, Any]]:
    from mbauc.estimators.additive.terms import Curve, HeatMap
    from mbauc.plots import CurveDisplay, ImportanceDisplay, InteractionDisplay, curves_figure

    yield "importance", ImportanceDisplay.from_estimator(terms).figure_
    ranked = terms.ranked()
    if ranked:
        yield "overview", curves_figure(terms).figure
    curves = [one for one in ranked if isinstance(one, Curve)]
    for place, curve in enumerate(curves[:_MOST], start=1):
        yield f"curve-{place:02}-{_file_name(curve.name)}", CurveDisplay(curve).plot().figure_
    heat_maps = [one for one in ranked if isinstance(one, HeatMap)]
    for place, one in enumerate(heat_maps[:_MOST], start=1):
        name = "-".join(map(_file_name, one.names))
        yield f"interaction-{place:02}-{name}", InteractionDisplay(one).plot().figure_


def _file_name(name: str) -> str:
    return _ODD.sub("-", name).strip("-")[:40] or "column"
