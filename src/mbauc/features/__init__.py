"""Transformers for scikit-learn that make features for a linear ranker.

:class:`CurveFeatures` bins and one-hot encodes columns and pairs of columns, for additive effects and
interactions. :class:`FourierFeatures` approximates a Gaussian kernel on numeric columns that act together, such
as the pixels of an image; :func:`choose_gamma` selects the width of the kernel. :class:`TableEncoder` encodes
tables with categories, texts, dates and missing values, for any model.
"""

from mbauc.features.curves import CurveFeatures
from mbauc.features.fourier import FourierFeatures
from mbauc.features.gamma import GammaChoice, TriedGamma, choose_gamma
from mbauc.features.table_encoder import TableEncoder

__all__ = ["CurveFeatures", "FourierFeatures", "GammaChoice", "TableEncoder", "TriedGamma", "choose_gamma"]
