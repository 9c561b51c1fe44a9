# SPDX-License-Identifier: MIT
"""Errors of the library as exceptions."""
from __future__ import annotations


class ReckonerError(Exception):
    """A call failed. The message is the library's text; `code` is the result of the C function (reckoner.h)."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class LibraryError(ReckonerError, ImportError):
    """The C library is missing, or it is older than this package."""


class ClosedError(ReckonerError):
    """The client or server was closed."""


class RefusedError(ReckonerError):
    """The server does not let this client join, for example because the archetypes differ, or it kicked the client."""


class HarnessError(ReckonerError):
    """reckoner-harness failed. The message is its error output."""
