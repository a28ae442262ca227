"""Which messages are formatted."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "levels": """
        import logging
        logger = logging.getLogger(__name__)
        logger.setLevel(logging.INFO)
        for x in loader:
            loss = update(x)
            logger.info("%s", loss)  # expect: xla-print-tensor
            logger.debug("%s", loss)
            logger.log(logging.WARNING, "%s", loss)  # expect: xla-print-tensor
            logger.log(10, "%s", loss)
            logger.isEnabledFor(10)
            logger.addHandler(print)
    """,
    "levels by name": """
        import logging
        quiet = logging.getLogger("quiet")
        quiet.setLevel("ERROR")
        for x in loader:
            loss = update(x)
            quiet.warning("%s", loss)
            quiet.error("%s", loss)  # expect: xla-print-tensor
    """,
    "the root's level, which torch_xla leaves at WARNING": """
        import logging
        logging.basicConfig(level=logging.INFO)
        for x in loader:
            loss = update(x)
            logging.info("%s", loss)
            logging.warning("%s", loss)  # expect: xla-print-tensor
    """,
    "a named logger has the root's level until it gets its own": """
        import logging
        logging.getLogger().setLevel(logging.INFO)
        named, own = logging.getLogger("named"), logging.getLogger("own")
        own.setLevel(logging.ERROR)
        for x in loader:
            loss = update(x)
            named.info("%s", loss)  # expect: xla-print-tensor
            named.debug("%s", loss)
            own.info("%s", loss)
    """,
    "the root's level by force": """
        import logging
        logging.basicConfig(level=logging.INFO, force=True)
        for x in loader:
            loss = update(x)
            logging.info("%s", loss)  # expect: xla-print-tensor
            logging.log(10, "%s", loss)
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
