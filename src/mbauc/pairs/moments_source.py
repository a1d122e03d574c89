"""Exact pair moments of a source in one pass that a kill does not set back to the start."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbauc.errors import CheckpointError, NonFiniteError
from mbauc.metrics.running_auc import RunningAuc
from mbauc.pairs.moment_file import MOMENTS
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Rows
from mbauc.rows.fingerprint import FINGERPRINT, BlockMark, EarlierBlocks, content_crc, fingerprint_as_json
from mbauc.rows.reading import read_blocks
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import thread_count
from mbauc.store.array_schema import ArrayOf
from mbauc.store.checkpoint import STATE, Checkpoint
from mbauc.store.json_values import describe_differences, read_json

if TYPE_CHECKING:
    from mbauc.rows.source import Source

#: Name of the state in the checkpoint.
STATE_NAME = "moments"


def moments_from_source(
    source: Source,
    *,
    n_jobs: int | None = None,
    checkpoint: Checkpoint | None = None,
    show: bool = False,
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

    Raises
    ------
    CheckpointError
        If the saved state is damaged, or the data is not what it was made from.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from mbauc.readers import Block
    >>> class Rows(list):
    ...     n_features, classes = 2, (0, 1)
    >>> rows = Rows([Block(np.eye(2), np.array([0, 1])), Block(np.ones((1, 2)), np.array([0]))])
    >>> with Checkpoint(tempfile.mkdtemp(), {"what": "moments"}) as checkpoint:
    ...     moments_from_source(rows, checkpoint=checkpoint)
    PairMoments(2 features, 1 positives × 2 negatives = 2 pairs)
    """
    from mbauc.rows.source import about_rows
    from mbauc.runtime.ahead import one_ahead

    now = fingerprint_as_json(source)
    done = _loaded(checkpoint, source.n_features) if checkpoint is not None else _Done()
    if done.complete and done.moments is not None and now is not None and done.fingerprint == now:
        return done.moments
    path = "" if checkpoint is None else str(checkpoint.folder)
    apart = describe_differences(done.fingerprint, now) if done.marks else ""
    before = EarlierBlocks(path, list(done.marks), apart)
    done.fingerprint = now
    number, n_threads = 0, thread_count(n_jobs)
    with progress(about_rows(source), "pair moments", show=show) as advance:
        running = RunningAuc(advance)
        for block in one_ahead(read_blocks(source)):
            _, X, positive, weight = block
            running.see(X, positive)
            crc = 0 if checkpoint is None else content_crc(X, positive, weight)
            mark = BlockMark(X.shape[0], crc)
            if number < len(before.marks) or done.complete:
                before.compare(number, mark)
            elif X.shape[0]:
                try:
                    part = PairMoments._of_rows(Rows(X, positive, weight), n_threads)
                except NonFiniteError as error:
                    raise block.placed(error) from None
                done.add(part, mark)
                if checkpoint is not None:
                    checkpoint.offer(STATE_NAME, done.state())
            else:
                done.marks.append(mark)
            number += 1
            advance(X.shape[0])
    before.compare_length(number)
    if done.moments is None:
        raise ValueError("the source has no rows; at least one block of rows is needed.")
    if checkpoint is not None and now != (later := fingerprint_as_json(source)):
        raise CheckpointError(
            f"the data was changed while it was read ({describe_differences(now, later)}). Delete the folder "
            f"{path} and start again once the data stays as it is."
        )
    if checkpoint is not None and (not done.complete or now is not None):
        done.complete = True
        checkpoint.save(STATE_NAME, done.state())
    return done.moments


@dataclass
class _Done:
    """How far a pass has come."""

    moments: PairMoments | None = None
    marks: list[BlockMark] = field(default_factory=list)
    complete: bool = False
    #: of the source as it was when the latest block was read
    fingerprint: dict[str, Any] | None = None

    def add(self, part: PairMoments, mark: BlockMark) -> None:
        if self.moments is None:
            self.moments = part
        else:
            self.moments._absorb(part)
        self.marks.append(mark)

    def state(self) -> dict[str, Any]:
        if self.moments is None:
            raise ValueError("there are no moments yet")
        return {
            **self.moments.encode(),
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


def _loaded(checkpoint: Checkpoint, n_features: int) -> _Done:
    state = checkpoint.load(STATE_NAME, _STATE)
    if state is None:
        return _Done()
    if state["scatters"].shape[1] != n_features:
        raise CheckpointError(
            f"{checkpoint.folder} holds moments of {state['scatters'].shape[1]:,} columns, the data has "
            f"{n_features:,}. Delete {STATE_NAME}.state in it, or choose another folder."
        )
    moments = PairMoments.decode(state)
    marks = [BlockMark(int(rows), int(crc)) for rows, crc in state["marks"]]
    try:
        fingerprint = read_json(str(state["fingerprint"]).encode())
        FINGERPRINT.check(fingerprint, "fingerprint")
    except ValueError as error:
        raise STATE.reject_content(str(checkpoint.folder / f"{STATE_NAME}.state"), error) from error
    return _Done(moments, marks, bool(state["complete"]), fingerprint)
