"""TableRanker and others with nothing set, on tables as pandas reads their files."""
