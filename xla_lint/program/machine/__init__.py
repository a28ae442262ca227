"""The contract between what a program means and who knows it: one machine, one position."""
