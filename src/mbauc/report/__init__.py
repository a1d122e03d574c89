"""The evaluation of a model as one HTML file that needs nothing else."""

from mbauc.report.page import report_html

__all__ = ["report_html"]
