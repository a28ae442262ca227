"""Which lines of the user's own files a process runs."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from xla_lint.runtime.places import TYPED_IN, is_ours, is_own

if TYPE_CHECKING:
    from types import CodeType, FrameType


class Ran:
    """The lines that ran since `start`, among them the rest of what was under way then."""

    def __init__(self) -> None:
        self._lines: dict[str, set[int]] = {}

    def start(self) -> None:
        """Note lines until the process ends."""
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            monitoring.use_tool_id(monitoring.COVERAGE_ID, "xla-lint")
            monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self._once)
            monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
        else:
            threading.settrace(self._called)
            sys.settrace(self._called)
            frame: FrameType | None = sys._getframe(1)
            while frame is not None:
                frame.f_trace = self._called(frame, "call", None)
                frame = frame.f_back

    def lines(self) -> dict[str, list[int]]:
        """File, and its lines in order."""
        return {file: sorted(numbers) for file, numbers in self._lines.copy().items()}

    def _once(self, code: CodeType, line: int) -> Any:
        if _is_theirs(code.co_filename):
            self._note(code.co_filename, line)
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]

    def _called(self, frame: FrameType, event: str, value: Any) -> Any:
        return self._went_on if _is_theirs(frame.f_code.co_filename) else None

    def _went_on(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "line":
            self._note(frame.f_code.co_filename, frame.f_lineno)
        return self._went_on

    def _note(self, file: str, line: int) -> None:
        self._lines.setdefault(file, set()).add(line)


def _is_theirs(file: str) -> bool:
    return is_own(file) and not is_ours(file) and file not in TYPED_IN
