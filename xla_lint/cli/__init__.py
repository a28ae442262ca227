"""The command `xla-lint`."""
