"""Rules on what an `Accelerator` must be given, and what must be used of what it returns."""
