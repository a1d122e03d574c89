"""Examples in docstrings that need a package which is not here are not collected."""

from importlib.util import find_spec

_NEEDS = {"lightgbm_objective.py": "lightgbm", "xgboost_objective.py": "xgboost", "torch/*": "torch"}
collect_ignore_glob = [
    f"mbauc/objectives/{name}" for name, needed in _NEEDS.items() if find_spec(needed) is None
]
