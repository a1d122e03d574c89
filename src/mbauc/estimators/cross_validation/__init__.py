"""Cross-validation over parts: who is held out, what is fitted, how it is scored."""
