"""Files that are whole or not there: arrays, containers, checkpoints, locks."""
