"""What the columns of a table are, and their values."""
