"""Comments to the linter."""
