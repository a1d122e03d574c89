"""What rows are: blocks, labels, sources, parts."""
