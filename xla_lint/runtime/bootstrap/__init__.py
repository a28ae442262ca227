"""A folder for PYTHONPATH: its one module is found by the processes of a recorded run."""
