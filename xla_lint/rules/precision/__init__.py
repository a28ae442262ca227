"""Precision and optimizers: what is stepped, with what, and when."""
