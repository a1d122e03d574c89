"""Section V-C, click logs: Figures 4 and 5."""
