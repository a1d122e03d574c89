"""What an iterative solver tells of on its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Called with a state to resume from, the sweeps over the rows so far, the estimated excess risk and the AUC.
Watch = Callable[[dict[str, Any], int, float, float], object]
