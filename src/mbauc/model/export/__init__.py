"""Models for other programs: scikit-learn, ONNX, Vowpal Wabbit."""

from mbauc.model.export.onnx_file import to_onnx
from mbauc.model.export.sklearn_pipeline import TableEncoder, to_sklearn
from mbauc.model.export.vw_text import to_vw

__all__ = ["TableEncoder", "to_onnx", "to_sklearn", "to_vw"]
