"""Barriers: where the graph is cut."""
