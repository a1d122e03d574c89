"""``python -m mbauc``, and the command ``mbauc``."""

import atexit
import gc
import sys


def main() -> int:
    """Run the command line; Ctrl-C while it is being loaded ends it as quietly as later on."""
    # nothing is left to free when a command ends: going through all objects once more takes a third of a second
    atexit.register(gc.freeze)
    try:
        from mbauc.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        if "--debug" in sys.argv:
            raise
        sys.stderr.write("\nmbauc: interrupted.\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
