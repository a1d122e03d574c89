"""What runs things: threads, memory, progress, compiled loops."""
