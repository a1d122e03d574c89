"""The detection-theoretic framework (Section II-A): known distributions and the best detector for them."""

from mbauc.paper.detection.detector import AtomicCurve, DetectionCurve, Detector, TailCurve
from mbauc.paper.detection.hypotheses import DiscreteHypotheses, Hypotheses
from mbauc.paper.detection.mixture import GaussianMixture

__all__ = [
    "AtomicCurve",
    "DetectionCurve",
    "Detector",
    "DiscreteHypotheses",
    "GaussianMixture",
    "Hypotheses",
    "TailCurve",
]
