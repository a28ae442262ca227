"""Rules on habits that guides teach."""
