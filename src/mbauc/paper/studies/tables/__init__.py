"""Nonlinear and linear scores on real tables, against LightGBM, EBM and others, with what they cost."""
