"""Transformers for scikit-learn that make features for a linear ranker.

:class:`CurveFeatures` is for tables whose columns work each on its own, or in pairs: bins, levels and cells.
:class:`FourierFeatures` is for smooth numbers that work together, such as the pixels of an image;
:func:`choose_gamma` finds how fast its waves should be.
"""

from mbauc.features.curves import CurveFeatures
from mbauc.features.fourier import FourierFeatures
from mbauc.features.gamma import GammaChoice, TriedGamma, choose_gamma

__all__ = ["CurveFeatures", "FourierFeatures", "GammaChoice", "TriedGamma", "choose_gamma"]
