"""`python -m xla_lint` is the command `xla-lint`."""

from __future__ import annotations

import sys

from xla_lint.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
