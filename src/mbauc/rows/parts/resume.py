"""One pass over a source that a kill does not set back to the start."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from mbauc.errors import CheckpointError
from mbauc.rows.block import Block
from mbauc.rows.fingerprint import FINGERPRINT, BlockMark, EarlierBlocks, content_crc, fingerprint_as_json
from mbauc.rows.parts.accumulate import Accumulated, AccumulateTask
from mbauc.rows.source import Source
from mbauc.store.array_schema import ArrayOf
from mbauc.store.checkpoint import STATE, Checkpoint
from mbauc.store.json_values import describe_differences, read_json

#: What is saved beside the sums: rows and checksum of each block that is in them, whether these are all, and
#: the fingerprint of the source as it was when the latest block was read.
_PASS = {
    "marks": ArrayOf("<i8", ("blocks", 2), low=0),
    "complete": ArrayOf("|b1"),
    "fingerprint": ArrayOf("U"),
}


class ResumablePass:
    """A task that adds up the rows of a source, and its state in a checkpoint.

    The sums so far are saved from time to time, together with the checksum of each block that is in them. The
    next run reads these blocks without adding them up, compares them, and resumes: the result has the same bits
    as without an interruption. A pass that had come to its end is not repeated if the source's
    ``fingerprint()`` is still the same.

    Parameters
    ----------
    task : AccumulateTask
        With a ``state_name`` and without folds.
    source : Source
        The rows.
    checkpoint : Checkpoint
        Where the state is.

    Raises
    ------
    CheckpointError
        If the saved state is damaged, or the data is not what it was made from.
    """

    def __init__(self, task: AccumulateTask, source: Source, checkpoint: Checkpoint) -> None:
        self._task, self._source, self._checkpoint = task, source, checkpoint
        self._run = task.begin(0)
        self._marks: list[BlockMark] = []
        self._complete = False
        self._now = fingerprint_as_json(source)
        self._before: dict[str, Any] | None = None
        self._load()

    @property
    def is_up_to_date(self) -> bool:
        """Whether the state is that of all rows of the source as it is."""
        return self._complete and self._now is not None and self._before == self._now

    def result(self) -> Accumulated:
        """What the rows that were read add up to."""
        return self._run.finish()

    def run(self, number: int, blocks: Iterable[Block]) -> Accumulated:
        """Add up the blocks that are not in the state yet, and save it at the end."""
        folder = str(self._checkpoint.folder)
        apart = describe_differences(self._before, self._now) if self._marks else ""
        earlier, count = EarlierBlocks(folder, list(self._marks), apart), 0
        self._before = self._now
        for block in blocks:
            crc = content_crc(block.X, block.positive, block.weight, groups=block.groups)
            mark = BlockMark(block.n_rows, crc)
            if count < len(earlier.marks) or self._complete:
                earlier.compare(count, mark)
            else:
                self._marks.append(mark)
                if block.n_rows:
                    self._run.add(block)
                    self._checkpoint.offer(self._task.state_name, self._state)
            count += 1
        earlier.compare_length(count)
        later = fingerprint_as_json(self._source)
        if self._now != later:
            raise CheckpointError(
                f"the data was changed while it was read ({describe_differences(self._now, later)}). Delete "
                f"the folder {folder} and start again when nothing writes to the data."
            )
        if not self._complete or self._now is not None:
            self._complete = True
            self._checkpoint.save(self._task.state_name, self._state())
        return self.result()

    def _state(self) -> dict[str, Any]:
        return {
            **self._task.encode(self._run.folds[0]),
            "marks": np.array(self._marks, dtype=np.int64),
            "complete": np.bool_(self._complete),
            "fingerprint": np.str_(json.dumps(self._before)),
        }

    def _load(self) -> None:
        name = self._task.state_name
        expected = self._task.state_schema
        schema = replace(expected, required={**expected.required, **_PASS}, together={})
        state = self._checkpoint.load(name, schema)
        if state is None:
            return
        folder = self._checkpoint.folder
        try:
            self._run.folds[0] = self._task.decode(state)
        except ValueError as error:
            raise CheckpointError(
                f"{folder} {error}. Delete {name}.state in it, or choose another folder."
            ) from None
        self._marks = [BlockMark(int(rows), int(crc)) for rows, crc in state["marks"]]
        self._complete = bool(state["complete"])
        try:
            self._before = read_json(str(state["fingerprint"]).encode())
            FINGERPRINT.check(self._before, "fingerprint")
        except ValueError as error:
            raise STATE.reject_content(str(folder / f"{name}.state"), error) from error
