# SPDX-License-Identifier: MIT
"""Keys, and the tokens with which clients join."""
from __future__ import annotations

import ipaddress
import time
from typing import Sequence

from ._generated import ByteCount
from ._library import check, ffi, lib, sized


def make_key() -> bytes:
    """A new random key, for servers and for backends that issue tokens."""
    key = ffi.new("uint8_t[]", ByteCount.KEY_BYTES)
    check(lib.reckoner_make_key(key))
    return bytes(key)


def key_from_text(text: str) -> bytes:
    """Reads a key file of `reckoner-token`: 64 hexadecimal digits."""
    key = ffi.new("uint8_t[]", ByteCount.KEY_BYTES)
    check(lib.reckoner_key_from_text(text.encode(), key), "a key has 64 hexadecimal digits")
    return bytes(key)


def key_to_text(key: bytes) -> str:
    text = ffi.new("char[65]")
    check(lib.reckoner_key_to_text(of_size(key, ByteCount.KEY_BYTES, "a key"), text))
    return ffi.string(text).decode()


def issue_token(key: bytes, servers: Sequence[tuple[str, int]], *, client_id: int, valid_s: float = 60.0,
                game: int = 0, user_data: bytes = b"", renewable_until_s: int = 0, issued_ms: int = 0) -> bytes:
    """A token with which one client can join one of the servers, given as (IPv4 address, port), once."""
    grant = sized("reckoner_grant")
    addresses = address_array(servers)
    data = ffi.from_buffer(user_data)
    grant.servers, grant.server_count = addresses, len(servers)
    grant.client_id, grant.game = client_id, game
    grant.expires_s = int(time.time() + valid_s)
    grant.user_data, grant.user_data_size = ffi.cast("const uint8_t*", data), len(user_data)
    grant.renewable_until_s, grant.issued_ms = renewable_until_s, issued_ms
    token = ffi.new("uint8_t[]", ByteCount.TOKEN_BYTES)
    check(lib.reckoner_issue_token(grant, of_size(key, ByteCount.KEY_BYTES, "a key"), token))
    return bytes(token)


def address_array(addresses: Sequence[tuple[str, int]]) -> object:
    array = ffi.new("reckoner_address[]", max(1, len(addresses)))
    for i, (host, port) in enumerate(addresses):
        array[i].host, array[i].port = int(ipaddress.IPv4Address(host)), port
    return array


def of_size(data: bytes, size: int, what: str) -> bytes:
    if len(data) != size:
        raise ValueError(f"{what} has {size} bytes, not {len(data)}")
    return bytes(data)
