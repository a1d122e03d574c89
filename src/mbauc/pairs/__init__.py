"""What pairs add up to: moments, and Σ as a linear operator."""
