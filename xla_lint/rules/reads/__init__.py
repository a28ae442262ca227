"""Reads: the host asks for a value."""
