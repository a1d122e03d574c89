"""Exact pair moments of a source in one pass that a kill does not set back to the start."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from sys import float_info
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import CheckpointError, NonFiniteError
from mbauc.metrics.running_auc import RunningAuc
from mbauc.pairs.class_moments import ClassMoments
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.scatter import PackedScatters, WeightedMean
from mbauc.pairs.scatter.weighted_mean import HEAVIEST
from mbauc.rows.block import Rows
from mbauc.rows.reading import read_blocks
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import thread_count
from mbauc.store.array_schema import ArrayOf, Arrays
from mbauc.store.checkpoint import Checkpoint
from mbauc.store.file_schema import read_json, shortened
from mbauc.store.fingerprint import (
    FINGERPRINT,
    BlockMark,
    EarlierBlocks,
    content_crc,
    differences,
    fingerprint_as_json,
)

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
    before = EarlierBlocks(path, list(done.marks), differences(done.fingerprint, now) if done.marks else "")
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
    if checkpoint is not None and now != fingerprint_as_json(source):
        raise CheckpointError(
            f"the data was changed while it was read ({differences(now, fingerprint_as_json(source))}). Delete "
            f"the folder {path} and start again once the data stays as it is."
        )
    if checkpoint is not None and (not done.complete or now is not None):
        done.complete = True
        checkpoint.save(STATE_NAME, done.state())
    return done.moments


def decayed_moments(
    source: Source, decay: float, *, n_jobs: int | None = None, frequencies: bool = False
) -> PairMoments:
    """Exact moments of a source in which the weights of earlier rows are multiplied by decay at each block."""
    total = PairMoments(source.n_features)
    n_threads = thread_count(n_jobs)
    for block in read_blocks(source):
        if block.X.shape[0]:
            rows = Rows(block.X, block.positive, block.weight, frequencies)
            total = total.decayed(decay) + PairMoments._of_rows(rows, n_threads)
    return total


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
        classes = self.moments._classes
        return {
            "scatters": classes.packed.buffer,
            **_packed("positive", classes.positive),
            **_packed("negative", classes.negative),
            "marks": np.array(self.marks, dtype=np.int64),
            "complete": np.bool_(self.complete),
            "fingerprint": np.str_(json.dumps(self.fingerprint)),
        }


def _packed(name: str, sums: WeightedMean) -> dict[str, Any]:
    return {
        f"{name}_count": np.int64(sums.count),
        f"{name}_weights": np.array([sums.weight, sums.squared_weight]),
        f"{name}_mean": sums.mean,
    }


def _expected(name: str) -> dict[str, ArrayOf]:
    return {
        f"{name}_count": ArrayOf("<i8", low=0),
        f"{name}_weights": ArrayOf("<f8", (2,), low=0, high=(HEAVIEST, float_info.max)),
        f"{name}_mean": ArrayOf("<f8", ("d",)),
    }


#: What a saved pass holds.
_STATE = Arrays(
    {
        "scatters": ArrayOf("<f8", ("d+1", "d")),
        **_expected("positive"),
        **_expected("negative"),
        "marks": ArrayOf("<i8", ("blocks", 2), low=0),
        "complete": ArrayOf("|b1"),
        "fingerprint": ArrayOf("U"),
    }
)


def _unpacked(name: str, state: dict[str, NDArray[Any]]) -> WeightedMean:
    weight, squared = (float(value) for value in state[f"{name}_weights"])
    return WeightedMean(int(state[f"{name}_count"]), weight, squared, state[f"{name}_mean"])


def _loaded(checkpoint: Checkpoint, n_features: int) -> _Done:
    state = checkpoint.load(STATE_NAME, _STATE)
    if state is None:
        return _Done()
    if state["scatters"].shape[1] != n_features:
        raise CheckpointError(
            f"{checkpoint.folder} holds moments of {state['scatters'].shape[1]:,} columns, the data has "
            f"{n_features:,}. Delete {STATE_NAME}.state in it, or choose another folder."
        )
    plus, minus = _unpacked("positive", state), _unpacked("negative", state)
    moments = PairMoments._make(ClassMoments(plus, minus, PackedScatters(state["scatters"])))
    marks = [BlockMark(int(rows), int(crc)) for rows, crc in state["marks"]]
    try:
        fingerprint = read_json(str(state["fingerprint"]).encode())
        FINGERPRINT.check(fingerprint, "fingerprint")
    except ValueError as error:
        raise CheckpointError(
            f"{STATE_NAME}.state in {checkpoint.folder} cannot be read ({shortened(str(error))}). Delete that "
            "file, or choose another folder."
        ) from error
    return _Done(moments, marks, bool(state["complete"]), fingerprint)
