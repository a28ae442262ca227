"""What each module of `xla_lint.program.library` says of its library."""

import pytest

pytest.register_assert_rewrite("tests.library.cases")
