"""Fixes: what rules offer to change, as data, and the edits of a text that do it. Nothing here knows of findings."""
