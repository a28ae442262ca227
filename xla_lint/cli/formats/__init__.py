"""How findings are written: one module a format, each with a function `write(results, stream)`."""
