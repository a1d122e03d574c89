"""Trained models with their preprocessing, for scoring raw rows anywhere, and their file format ``.mbauc``."""

from mbauc.model.layout import LibsvmLayout, TableLayout
from mbauc.model.model import RankerModel
from mbauc.model.model_file import load_model, save_model
from mbauc.model.scoring import score_files
from mbauc.model.threshold import Threshold
from mbauc.model.update import merge_models, update_model

__all__ = [
    "LibsvmLayout",
    "RankerModel",
    "TableLayout",
    "Threshold",
    "load_model",
    "merge_models",
    "save_model",
    "score_files",
    "update_model",
]
