"""Shapes and constants: what makes XLA compile again."""
