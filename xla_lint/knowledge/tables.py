"""The tables that are kept as JSON, beside the modules that know what they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load(name: str) -> Any:
    """What `<name>.json` holds."""
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))
