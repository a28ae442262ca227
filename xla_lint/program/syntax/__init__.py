"""What a tree tells without running it."""
