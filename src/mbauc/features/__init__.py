"""Transformers for scikit-learn that make features for a linear ranker.

:class:`CurveFeatures` is for tables whose columns work each on its own, or in pairs: bins, levels and cells.
:class:`FourierFeatures` is for smooth numbers that work together, such as the pixels of an image;
:func:`choose_gamma` finds how fast its waves should be.
:class:`TableEncoder` makes numbers of a table with texts, dates and gaps, for any model.
"""

from mbauc.features.curves import CurveFeatures
from mbauc.features.fourier import FourierFeatures
from mbauc.features.gamma import GammaChoice, TriedGamma, choose_gamma
from mbauc.features.table_encoder import TableEncoder

__all__ = ["CurveFeatures", "FourierFeatures", "GammaChoice", "TableEncoder", "TriedGamma", "choose_gamma"]
