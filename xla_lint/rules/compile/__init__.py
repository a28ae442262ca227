"""`torch.compile` on backends that need not be imported: what it rejects, and what it cannot trace."""
