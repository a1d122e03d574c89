"""Time of a loss over all pairs of a batch, forward and backward, on one core; LibAUC where it is installed."""

import time

import torch

from benchmarks.timing import report
from mbauc.objectives.torch import PairwiseAUCLoss

try:
    from libauc.losses import PairwiseAUCLoss as FormedPairs
except ImportError:
    FormedPairs = None

SIZES = (256, 1024, 4096, 16_384, 1_000_000)
#: Rows beyond which pairs are not formed: 16,384 rows with a tenth positive have 24 million of them.
MOST = 16_384


def milliseconds(criterion, scores, y, repeats=7):
    """Of the processor, best of several runs after one to warm up."""
    times = []
    for _ in range(repeats + 1):
        scores.grad = None
        clock = time.process_time()
        criterion(scores, y).backward()
        times.append(time.process_time() - clock)
    return 1e3 * min(times[1:])


def run():
    torch.set_num_threads(1)
    losses = {
        "cross-entropy": torch.nn.BCEWithLogitsLoss(),
        "squared hinge": PairwiseAUCLoss("squared_hinge"),
        "logistic": PairwiseAUCLoss("logistic"),
        "squared hinge, max_fpr=0.1": PairwiseAUCLoss("squared_hinge", max_fpr=0.1),
    }
    if FormedPairs is not None:
        losses["LibAUC, squared hinge"] = FormedPairs("squared_hinge")
    rows = [("rows of a batch", " | ".join(losses), "")]
    for n in SIZES:
        y = (torch.arange(n) % 10 == 0).float()
        scores = (torch.randn(n, generator=torch.Generator().manual_seed(0)) + y).requires_grad_()
        cells = [
            "" if n > MOST and name.startswith("LibAUC") else f"{milliseconds(criterion, scores, y):.2f}"
            for name, criterion in losses.items()
        ]
        rows.append((f"{n:,}", " | ".join(cells), ""))
    report(
        "pair_batches",
        rows,
        ["Milliseconds of the processor, best of seven; one in ten rows is positive, scores are float32."],
    )
