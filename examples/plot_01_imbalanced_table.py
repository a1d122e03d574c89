"""
An imbalanced table
===================

A stub.
"""

import matplotlib.pyplot as plt

plt.plot([0, 1])
