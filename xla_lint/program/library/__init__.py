"""What calls of libraries mean, by canonical dotted name.

One module a library, or a part of one. Every module of this package is imported, and registers what it knows with
`registry`; `dispatch` is what the machine asks.
"""

import pkgutil
from importlib import import_module


def load() -> None:
    """Import every module of the package: it registers what it knows."""
    for module in pkgutil.iter_modules(__path__, __name__ + "."):
        import_module(module.name)


load()
