"""Which files belong together, and what they take part in."""
