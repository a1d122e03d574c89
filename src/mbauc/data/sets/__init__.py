"""The data sets of the paper: what is on record, where files are, and how they get there."""
