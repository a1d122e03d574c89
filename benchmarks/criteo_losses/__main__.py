"""``python -m benchmarks.criteo_losses PART …``: some parts, by default all; ``table`` only makes the table."""

import argparse

from benchmarks.criteo_losses.data import ROWS
from benchmarks.criteo_losses.fits import FITS
from benchmarks.criteo_losses.table import RESUME, run

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("parts", nargs="*", choices=[*FITS, RESUME, "table"], metavar="PART")
parser.add_argument("--rows", type=int, default=ROWS, help="for trials, whose results are only printed")
given = parser.parse_args()
run(given.parts or None, given.rows)
