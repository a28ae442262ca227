"""Checkpoints and ranks: what is saved, and what only some replicas do."""
