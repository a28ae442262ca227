"""What the state of a program is: values, how they join, the heap, loops, events."""
