"""``python -m mbauc``."""

import sys

from mbauc.cli import main

if __name__ == "__main__":
    sys.exit(main())
