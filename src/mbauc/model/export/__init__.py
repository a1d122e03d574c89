"""Models for other programs: scikit-learn and ONNX."""

from mbauc.features import TableEncoder
from mbauc.model.export.onnx_file import to_onnx
from mbauc.model.export.sklearn_pipeline import to_sklearn

__all__ = ["TableEncoder", "to_onnx", "to_sklearn"]
