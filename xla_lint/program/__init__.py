"""What a program means to a lazy device: values, loops, barriers, and the events that rules read."""
