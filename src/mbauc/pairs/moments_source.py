"""Exact pair moments of a source in one pass that a kill does not set back to the start."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mbauc.errors import CheckpointError
from mbauc.pairs.accumulator import MomentsAccumulator
from mbauc.pairs.moment_file import MOMENTS, encode_moments
from mbauc.pairs.moments import PairMoments
from mbauc.rows.fingerprint import FINGERPRINT, BlockMark, EarlierBlocks, content_crc, fingerprint_as_json
from mbauc.rows.reading import read_blocks, rows_of_source
from mbauc.rows.source import Observe, Source, about_rows, ignore
from mbauc.runtime.ahead import one_ahead
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import thread_count
from mbauc.store.array_schema import ArrayOf
from mbauc.store.checkpoint import STATE, Checkpoint
from mbauc.store.json_values import describe_differences, read_json

#: Name of the state in the checkpoint.
STATE_NAME = "moments"


def moments_from_source(
    source: Source,
    *,
    n_jobs: int | None = None,
    checkpoint: Checkpoint | None = None,
    show: bool = False,
    observe: Observe = ignore,
) -> PairMoments:
    """Exact moments of all pairs of a source; with a checkpoint, a killed pass goes on where it was.

    The moments so far are saved from time to time, together with the checksum of each block that is in them.
    The next call reads these blocks without adding them up, compares them, and goes on: the result has the
    same bits as without an interruption. A pass that had come to its end is not repeated if the source's
    ``fingerprint()`` is still the same.

    Time and memory as for :meth:`PairMoments.from_blocks`; a save writes ``8 d (d + 1)`` bytes.

    Parameters
    ----------
    source : Source
        Blocks of rows.
    n_jobs : int, optional
        Threads; None for as many as BLAS may use.
    checkpoint : Checkpoint, optional
        Its identity must tell all that bits depend on, such as ``n_jobs``; its ``interval`` says how often to
        save.
    show : bool
        Show a progress bar on a terminal.
    observe : callable
        Looks on while blocks are read.

    Raises
    ------
    CheckpointError
        If the saved state is damaged, or the data is not what it was made from.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from mbauc.readers import RawBlock
    >>> class Rows(list):
    ...     n_features, classes = 2, (0, 1)
    >>> rows = Rows([RawBlock(np.eye(2), np.array([0, 1])), RawBlock(np.ones((1, 2)), np.array([0]))])
    >>> with Checkpoint(tempfile.mkdtemp(), {"what": "moments"}) as checkpoint:
    ...     moments_from_source(rows, checkpoint=checkpoint)
    PairMoments(2 features, 1 positives × 2 negatives = 2 pairs)
    """
    now = fingerprint_as_json(source)
    n_threads = thread_count(n_jobs)
    done = _Done(MomentsAccumulator(source.n_features, n_threads))
    if checkpoint is not None:
        done = _load(checkpoint, source.n_features, n_threads)
    if done.complete and now is not None and done.fingerprint == now:
        return done.total.finish()
    path = "" if checkpoint is None else str(checkpoint.folder)
    apart = describe_differences(done.fingerprint, now) if done.marks else ""
    before = EarlierBlocks(path, list(done.marks), apart)
    done.fingerprint = now
    number = 0
    with progress(about_rows(source), "pair moments", show=show) as advance:
        look = observe(advance)
        for block in one_ahead(read_blocks(source)):
            look(block.X, block.positive)
            crc = 0 if checkpoint is None else content_crc(block.X, block.positive, block.weight)
            mark = BlockMark(block.n_rows, crc)
            if number < len(before.marks) or done.complete:
                before.compare(number, mark)
            else:
                done.marks.append(mark)
                if block.n_rows:
                    with rows_of_source(block):
                        done.total.add(block)
                    done.is_empty = False
                    if checkpoint is not None:
                        checkpoint.offer(STATE_NAME, done.state())
            number += 1
            advance(block.n_rows)
    before.compare_length(number)
    if done.is_empty:
        raise ValueError("the source has no rows; at least one block of rows is needed.")
    if checkpoint is not None and now != (later := fingerprint_as_json(source)):
        raise CheckpointError(
            f"the data was changed while it was read ({describe_differences(now, later)}). Delete the folder "
            f"{path} and start again once the data stays as it is."
        )
    if checkpoint is not None and (not done.complete or now is not None):
        done.complete = True
        checkpoint.save(STATE_NAME, done.state())
    return done.total.finish()


@dataclass
class _Done:
    """How far a pass has come."""

    total: MomentsAccumulator
    is_empty: bool = True
    marks: list[BlockMark] = field(default_factory=list)
    complete: bool = False
    #: of the source as it was when the latest block was read
    fingerprint: dict[str, Any] | None = None

    def state(self) -> dict[str, Any]:
        return {
            **encode_moments(self.total.peek()),
            "marks": np.array(self.marks, dtype=np.int64),
            "complete": np.bool_(self.complete),
            "fingerprint": np.str_(json.dumps(self.fingerprint)),
        }


#: What a saved pass holds.
_STATE = replace(
    MOMENTS,
    required={
        **MOMENTS.required,
        "marks": ArrayOf("<i8", ("blocks", 2), low=0),
        "complete": ArrayOf("|b1"),
        "fingerprint": ArrayOf("U"),
    },
    together={},
)


def _load(checkpoint: Checkpoint, n_features: int, n_threads: int) -> _Done:
    total = MomentsAccumulator(n_features, n_threads)
    state = checkpoint.load(STATE_NAME, _STATE)
    if state is None:
        return _Done(total)
    if state["scatters"].shape[1] != n_features:
        raise CheckpointError(
            f"{checkpoint.folder} holds moments of {state['scatters'].shape[1]:,} columns, the data has "
            f"{n_features:,}. Delete {STATE_NAME}.state in it, or choose another folder."
        )
    total.add_moments(PairMoments.decode(state))
    marks = [BlockMark(int(rows), int(crc)) for rows, crc in state["marks"]]
    try:
        fingerprint = read_json(str(state["fingerprint"]).encode())
        FINGERPRINT.check(fingerprint, "fingerprint")
    except ValueError as error:
        raise STATE.reject_content(str(checkpoint.folder / f"{STATE_NAME}.state"), error) from error
    return _Done(total, False, marks, bool(state["complete"]), fingerprint)
