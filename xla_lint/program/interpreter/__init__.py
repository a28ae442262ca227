"""What each kind of node means to a lazy device, and how a program is run."""
