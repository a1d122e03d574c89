"""Times in another zone than those that were learned: their hours and weekdays mean something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mbauc.errors import DataWarning
from mbauc.readers.table.columns.plan import Column
from mbauc.readers.table.columns.times import form_of_type, zone_of
from mbauc.runtime.warn import warn


class OtherZones:
    """Looks at the types of times; a column whose zone is not that of the training is warned of.

    Times without a zone, and texts, are taken as they are written.
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        zones = {column.name: zone_of(column.form) for column in columns if column.kind == "time"}
        self._learned = {name: zone for name, zone in zones.items() if zone}
        self._other: dict[str, str] = {}

    def look(self, schema: Any) -> None:
        """Look at the types of some rows."""
        for name, learned in self._learned.items():
            place = schema.get_field_index(name)
            zone = zone_of(form_of_type(schema.types[place]) or "") if place >= 0 else ""
            if zone and zone != learned:
                self._other.setdefault(name, zone)

    def warn(self) -> None:
        """Warn of each column that was seen in another zone."""
        for name, zone in self._other.items():
            warn(
                f"column {name!r} has times in the zone {zone!r}, and had {self._learned[name]!r} in training: "
                "hours and weekdays differ. Convert it to the zone of the training rows first.",
                DataWarning,
            )
