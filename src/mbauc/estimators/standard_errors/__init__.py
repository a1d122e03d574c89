"""Standard errors of weights: from moments, or by leaving out each row."""
