"""One validation for curves and transformers: rows of numbers, of which some may be missing."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

from mbauc.rows.column_faults import as_numbers, check_columns, explain_failure, raise_infinite


def validate_numbers(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """X as scikit-learn validates it, or an error that names the row and the column of what is no number."""
    check_columns(X)
    try:
        matrix = validate_data(estimator, X, reset=reset, ensure_all_finite="allow-nan", **options)
    except (TypeError, ValueError) as error:
        explain_failure(X, error)
        if "infinity" in str(error):
            raise_infinite(X)
        raise
    return as_numbers(matrix, X)
