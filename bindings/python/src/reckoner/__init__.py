# SPDX-License-Identifier: MIT
"""Reckoner: shows remote moving entities smoothly over a bad network. For research, tools and bots.

    import reckoner

    with reckoner.Client("127.0.0.1", 26000, insecure=True) as client:
        for _ in range(600):
            now = reckoner.now()
            client.update(now)
            for event in client.events():
                print(event)
            print(client.shown_poses().positions)
            client.wait(1 / 60)
"""
from ._errors import ClosedError, HarnessError, LibraryError, ReckonerError, RefusedError
from ._generated import (BlendCurve, BlendProfile, CallError, ClientEventKind, CorrectionCause, CorrectionReason,
                         Delivery, LogLevel, Mode, OwnerGone, OwnerPolicy, Relevance, ResultCode, RewindStatus,
                         RouteFacing, RouteKind, RouteWrap, SentContent, ServerEventKind, Status, ValueType,
                         VelocitySource)
from ._library import lib as _lib
from ._library import text as _text
from ._values import SEEN, SHOWN, STATE, now, state
from .archetype import Archetype, Field, Plane, WallBox, find_archetype
from .client import Client, ClientEvent, CorrectedEntity, Correction, Message, Poses, PredictionStep, ShortLived, blend_settings
from .clock import GameClock, into_frame, out_of_frame
from .harness import Comparison, Replay, compare, replay
from .security import issue_token, key_from_text, key_to_text, make_key
from .server import PlayerInput, Pose, Server, ServerEvent

__version__ = _text(_lib.reckoner_version())  #: the version of the C library
protocol_version = int(_lib.reckoner_protocol_version())  #: must be the same at both ends

__all__ = [
    "Archetype", "BlendCurve", "BlendProfile", "CallError", "Client", "ClientEvent", "ClientEventKind",
    "ClosedError", "Comparison", "CorrectedEntity", "Correction", "CorrectionCause", "CorrectionReason", "Delivery",
    "Field", "GameClock", "HarnessError", "LibraryError", "LogLevel", "Message", "Mode", "OwnerGone", "OwnerPolicy",
    "Plane", "PlayerInput", "Pose", "Poses", "PredictionStep", "ReckonerError", "RefusedError", "Relevance",
    "Replay", "ResultCode", "RewindStatus", "RouteFacing", "RouteKind", "RouteWrap", "SEEN", "SHOWN", "STATE",
    "SentContent", "Server", "ServerEvent", "ServerEventKind", "ShortLived", "Status", "ValueType",
    "VelocitySource", "WallBox", "blend_settings", "compare", "find_archetype", "into_frame", "issue_token",
    "key_from_text", "key_to_text", "make_key", "now", "out_of_frame", "protocol_version", "replay", "state",
]
