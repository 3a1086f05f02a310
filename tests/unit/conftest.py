"""Fixtures of the unit tests."""

from __future__ import annotations

import pytest

from lamina.pipeline.extract.syntax import Parser


@pytest.fixture(scope="session")
def parser() -> Parser:
    """The English parser, loaded once; a test that asks for it carries the mark `model`."""
    return Parser()
