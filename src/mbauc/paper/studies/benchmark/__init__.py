"""Section V-B, the benchmark data sets: Table III and Figure 3."""
