"""A trained ranker with all that is needed to score raw rows elsewhere, and its file ``.mbauc``."""

from mbauc.model.layout import LibsvmLayout, TableLayout
from mbauc.model.model import RankerModel, Threshold
from mbauc.model.model_file import load_model, save_model
from mbauc.model.scoring import score_files
from mbauc.model.update import merged, updated

__all__ = [
    "LibsvmLayout",
    "RankerModel",
    "TableLayout",
    "Threshold",
    "load_model",
    "merged",
    "save_model",
    "score_files",
    "updated",
]
