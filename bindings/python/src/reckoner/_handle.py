# SPDX-License-Identifier: MIT
"""What Client and Server share: the handle of the C library and its end."""
from __future__ import annotations

import types
from typing import Any, Callable, TypeVar

from ._errors import ClosedError
from ._library import ffi, lib, text

Self = TypeVar("Self", bound="Handle")
Log = Callable[[int, str], None]  #: a level (LogLevel) and a line


class Handle:
    """Owns a reckoner_client or a reckoner_server. Use it as a context manager, or call close()."""

    _raw: Any = None

    @property
    def _c(self) -> Any:
        if self._raw is None:
            raise ClosedError(f"this {type(self).__name__} is closed")
        return self._raw

    @property
    def closed(self) -> bool:
        return self._raw is None

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self: Self) -> Self:
        self._c  # raises if it is closed
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: types.TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if self._raw is not None:
            self.close()


def set_log(config: Any, log: Log | None, keep: list[Any]) -> None:
    """Lets the library write its log with a Python function."""
    if log is None:
        return
    write = log
    function = ffi.callback("void(void*, const reckoner_log_record*)",
                            lambda _, record: write(record.level, text(record.line)))
    keep.append(function)
    config.log = function


def refusals(count: Callable[[int, Any, Any], int]) -> dict[str, tuple[int, int]]:
    """For each refusal reason, the number of payloads and datagrams refused."""
    found: dict[str, tuple[int, int]] = {}
    payloads, datagrams = ffi.new("uint64_t*"), ffi.new("uint64_t*")
    reason = 0
    while (name := lib.reckoner_refusal_name(reason)) != ffi.NULL:
        count(reason, payloads, datagrams)
        found[text(name)] = (payloads[0], datagrams[0])
        reason += 1
    return found
