"""What holds for the analysis whatever the program: laws, checked on values and loops that are built by hand."""
