"""What the analysis knows of libraries, as data with its source."""
