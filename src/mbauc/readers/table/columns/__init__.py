"""What the columns of a table are, and what stands in them."""
