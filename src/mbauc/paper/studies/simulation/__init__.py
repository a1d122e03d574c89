"""Section V-A, simulated data: Table II and Figure 2 are two views of one study."""
