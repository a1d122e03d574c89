"""This package against what a user would pick instead, on click data.

Each contender is a file in ``contenders``, found by itself, and runs in processes of its own. Three questions:
how long a fit takes with nothing set and how well it ranks; how long a tuned one takes to come within a
hair of the best linear AUC anybody reached; how much memory it takes beyond the data.
"""

from pathlib import Path


def run(arguments=()):
    """Both widths, the tables and the plot; what a killed run had measured is not measured again."""
    from benchmarks.click_fit.__main__ import main

    main(list(arguments))


#: Where plots and the list of all measured fits go.
DOCS = Path(__file__).parents[2] / "docs" / "results"
