#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the names of the public C++ headers with those of reckoner.h and of every binding: enumerators with their
values, functions of clients and servers, and members of structs. A name that differs must be in one of the tables
below, with the reason, so that it differs on purpose.

names.py [SOURCE]        SOURCE: the root of the sources, or of a copy
names.py --check-itself  changes names in memory, and fails if such a change is not noticed
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# C enum: (C++ enum, prefix of the enumerators in C). Bindings drop the prefix that all enumerators of an enum share.
ENUMS = {
    "log_level": ("LogLevel", "LOG_"),
    "call_error": ("CallError", "CALL_"),
    "relevance": ("Relevance", "RELEVANCE_"),
    "owner_policy": ("OwnerPolicy", "OWNER_POLICY_"),
    "owner_gone": ("OwnerGone", "OWNER_GONE_"),
    "route_wrap": ("RouteWrap", "WRAP_"),
    "route_facing": ("RouteFacing", "FACING_"),
    "velocity_source": ("VelocitySource", "VELOCITY_"),
    "delivery": ("Delivery", "DELIVERY_"),
    "server_event_kind": ("ServerEvent::Kind", "SERVER_EVENT_"),
    "sent_content": ("SentContent", "SENT_"),
    "rewind_status": ("RewindStatus", "REWIND_"),
    "correction_reason": ("CorrectionReason", "CORRECTION_"),
    "correction_cause": ("CorrectionCause", "CAUSE_"),
    "mode": ("PlayoutMode", "MODE_"),
    "blend_curve": ("BlendCurve", "BLEND_"),
    "blend_profile": ("BlendProfile", "PROFILE_"),
    "status": ("ClientStatus", "STATUS_"),
    "client_event_kind": ("ClientEvent::Kind", "CLIENT_EVENT_"),
}
# C++ has no enum for these.
C_ONLY_ENUMS = {"result_code", "log_type", "value_type", "floor_kind", "byte_count", "route_kind"}
# C has no enum for these: it has texts (Refusal) or numbers (CatmullRomKnots), or the part is not in C (transports,
# curves, rewinding of owned motion).
CPP_ONLY_ENUMS = {"Refusal", "CatmullRomKnots", "CatmullRomEnds", "MotionPath",
                  "TransportEvent::Kind", "Recipients::Kind"}  # Recipients: C has a function for each kind
NOT_IN_C = {("CallError", "none")}  # a result of 0

# C function, without reckoner_client_ or reckoner_server_: the C++ function.
FUNCTIONS = {
    "client": {
        "set_token": "NetworkDialer::set_security", "ticket": "NetworkTransport::ticket",
        "wait": "NetworkTransport::wait", "destroy": "~Client",
        "get_stats": "stats",  # a struct of this name exists
        "lost_for": "lost_for_s", "server_time": "server_time_s", "shown_one": "shown",
        "shown_poses_into": "shown_poses", "name": "info", "short_lived": "info", "move_in": "move", "refused": "stats",
        "call_error": "CallResult::error",
        "anticipate": "correct",  # C has no default arguments
    },
    "server": {
        "port": "NetworkTransport::port", "wait": "NetworkTransport::wait", "identity": "NetworkTransport::identity",
        "destroy": "~Server", "get_stats": "stats", "get_session_stats": "session_stats", "refused": "stats",
        "get_prediction_stats": "prediction_stats",
        "archetype_traffic": "traffic", "field_traffic": "traffic",
        "call_error": "CallResult::error", "take": "revoke",  # take: the earlier name
        "frame": "frame_of",
        "broadcast_listed": "broadcast", "broadcast_within": "broadcast", "broadcast_seeing": "broadcast",
        "set_entity_groups": "set_groups", "set_client_groups": "set_groups",  # C has no overloads
        "route_length": "route", "route_state": "route", "route_nearest": "route",  # functions of class Route
    },
}
# C++ functions that C has not, and why.
CPP_ONLY_FUNCTIONS = {
    "client": {"playout": "the game set it"},
    "server": {"archetypes": "the game has them", "tick_time_s": "next_tick()", "is_tick_due": "next_tick()",
               "run_due_ticks": "receive() and tick()", "entity_count": "stats", "client_count": "stats",
               "closing_count": "stats", "ownership_stats": "stats", "peer": "C has no transports"},
}
# C function: what the binding calls it. Empty: it uses it inside.
PYTHON = {
    "client": {"create": "__init__", "destroy": "close", "poll_event": "events", "poll_message": "messages",
               "get_stats": "stats", "shown_poses_into": "shown_poses", "move_in": "move",
               "anticipate": "correct", "call_error": ""},
    "server": {"create": "__init__", "destroy": "close", "poll_event": "events", "poll_message": "messages",
               "get_stats": "stats", "get_session_stats": "session_stats", "call_error": "",
               "get_prediction_stats": "prediction_stats",
               "broadcast_listed": "broadcast", "broadcast_within": "broadcast", "broadcast_seeing": "broadcast"},
}
CSHARP = {
    "client": {"create": "Client", "destroy": "Destroy", "get_stats": "Stats", "shown_poses_into": "ShownPoses",
               "shown_one": "Shown", "anticipate": "Correct", "call_error": ""},
    "server": {"create": "Server", "destroy": "Destroy", "get_stats": "Stats", "get_session_stats": "SessionStats",
               "get_prediction_stats": "PredictionStats",
               "next_tick": "IsDue", "state": "StateOf", "frame": "FrameOf", "call_error": "",
               "broadcast_listed": "Broadcast", "broadcast_within": "Broadcast"},  # State, Frame: types
}
# C struct: C++ structs whose members it has.
STRUCTS = {
    "state": ["State"], "pose": ["Pose"], "shown": ["ShownEntity", "EntityInfo"], "shown_debug": ["ShownDebug", "PredictionDebug", "CorrectionDebug"],
    "entity_debug": ["EntityDebug"], "session_stats": ["SessionStats"], "entity_traffic": ["EntityTraffic"], "ownership_rules": ["OwnershipRules"],
    "playout": ["PlayoutConfig"], "client_event": ["ClientEvent"], "server_event": ["ServerEvent"],
    "seen": ["SeenPose"], "message": ["GameMessage"], "archetype": ["Archetype"],
    "client_stats": ["ClientStats", "TransportStats"],
    "server_stats": ["ServerStats", "PublishCauses", "TransportStats", "OwnershipStats"],
    "client_config": ["ClientConfig", "PlayoutConfig", "ReconnectConfig", "ClientSecurity"],
    "server_config": ["ServerConfig", "InterestConfig", "ListenConfig", "ServerSecurity", "TransportLimits"],
    "grant": ["ConnectGrant"],
    "prediction_rules": ["PredictionRules"], "player_input": ["PlayerInput"],
    "prediction_stats": ["PredictionStats"], "prediction_step": ["PredictionStep"],
    "corrected_entity": ["CorrectedEntity"], "correction": ["Correction"],
}
PREFIXES = ("interest_", "limit_", "reconnect_", "owned_", "wire_", "published_", "transport_", "prediction_", "correction_")  # of a member struct
MEMBERS = {  # C member: what it is in C++
    "shown": {"entity": "id", "state": "shown", "on_route": "route"},
    "shown_debug": {"entity": "id", "predicted": "prediction", "corrected": "correction"}, "entity_debug": {"entity": "id"},
    "player_input": {"size": "bytes"}, "prediction_step": {"input_size": "input"},
    "corrected_entity": {"entity": "id", "game_state_size": "game_state"},
    "correction": {"entity_count": "entities", "step_count": "steps"},
    "message": {"bytes": "payload", "size": "payload", "has_time": "time_s"},
    "archetype": {"field_count": "fields", "floor_up": "floor", "floor_height_m": "floor", "floor_at": "floor",
                  "floor_user": "floor", "wall_boxes": "walls", "wall_count": "walls", "wall_margin_m": "walls",
                  "wall_reach": "walls", "wall_user": "walls"},
    "client_config": {"archetype_count": "archetypes", "log_user": "log", "log_least": "log"},
    "server_config": {"archetype_count": "archetypes", "address_count": "addresses", "more_addresses": "addresses",
                      "log_user": "log", "log_least": "log"},
    "client_stats": {"transport_errors": "service_errors"}, "server_stats": {"transport_errors": "service_errors"},
    "grant": {"server_count": "servers", "more_servers": "servers", "user_data_size": "user_data"},
}
C_ONLY_MEMBERS = {
    # Arguments of connect() and of the dialer:
    "client_config": {"host", "port", "insecure", "receive_thread", "reconnects", "transport"},
    "server_config": {"insecure", "web"},  # reckoner_web.h
    "grant": {"game"},  # an argument of issue_token()
    "server_stats": {"clients", "entities", "closing"},  # client_count(), entity_count(), closing_count()
}

# Changes that the comparison must notice: file, text, other text.
CHANGES = [
    ("capi/include/reckoner.h", "RECKONER_CLIENT_EVENT_REVOKED = 6", "RECKONER_EVENT_TAKEN = 6"),
    ("capi/include/reckoner.h", "RECKONER_CLIENT_EVENT_REVOKED = 6", "RECKONER_CLIENT_EVENT_REVOKED = 60"),
    ("capi/include/reckoner.h", "reckoner_client_flush(", "reckoner_client_push("),
    ("capi/include/reckoner.h", "double blend_left_s;", "double blend_rest_s;"),
    ("capi/include/reckoner.h", "enum reckoner_call_error {", "enum reckoner_call_failure {"),
    ("client/include/reckoner/client/client.hpp", "void flush()", "void push()"),
    ("client/include/reckoner/client/client_event.hpp", "    revoked,", "    taken,"),
    ("server/include/reckoner/server/server.hpp", "CallResult revoke(EntityId", "CallResult take_back(EntityId"),
    ("server/include/reckoner/server/rewind.hpp", "  pending,", "  waiting,"),
    ("bindings/unity/Runtime/Generated.cs", "Revoked = 6", "Taken = 6"),
    ("bindings/unity/Runtime/Server.cs", "bool Revoke(", "bool Withdraw("),
    ("bindings/python/src/reckoner/_generated.py", "REVOKED = 6", "TAKEN = 6"),
    ("bindings/python/src/reckoner/client.py", "def flush(", "def push("),
    ("bindings/lua/reckoner_declarations.lua", "RECKONER_CLIENT_EVENT_REVOKED", "RECKONER_EVENT_TAKEN"),
]

failures = []
changed = None  # one of CHANGES, applied to what is read


def fail(text):
    failures.append(text)


def read(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    if changed is not None and changed[0] == str(path):
        if changed[1] not in text:
            sys.exit(f"{path} has no {changed[1]}")
        text = text.replace(changed[1], changed[2])
    return text


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def snake(name):
    """kCatmullRom and catmull_rom are one name."""
    if re.match(r"k[A-Z]", name):
        name = name[1:]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def squeezed(name):
    return re.sub(r"\W|_", "", name).lower()


def values(body):
    """name -> value of the enumerators in the braces of an enum."""
    found, value = {}, -1
    for part in filter(None, (p.strip() for p in body.split(","))):
        name, _, given = map(str.strip, part.partition("="))
        value = int(given, 0) if given else value + 1
        found[name] = value
    return found


def braces(text, start):
    """The text between the brace at or after `start` and its partner."""
    begin = text.index("{", start)
    depth = 0
    for i in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[begin + 1:i]
    raise ValueError(text[start:start + 80])


class Cpp:
    def __init__(self):
        self.enums, self.members, self.functions = {}, {}, {}
        for header in sorted(ROOT.glob("*/include/reckoner/*/*.hpp")):
            if header.parent.name == "cluster":
                continue  # C has no clusters
            text = without_comments(read(header.relative_to(ROOT).as_posix()))
            classes = list(re.finditer(r"^(?:struct|class)(?: \w+_API)? (\w+)[^;{]*\{", text, re.M))
            for match in re.finditer(r"\benum class (\w+)[^{;]*\{", text):
                outer = [m[1] for m in classes
                         if m.start() < match.start() < m.end() + len(braces(text, m.start()))]
                name = "::".join([*outer[-1:], match[1]])
                self.enums[name] = {snake(n): v for n, v in values(braces(text, match.start())).items()}
            for match in classes:
                self.members[match[1]] = self._members(braces(text, match.start()))
                self.functions[match[1]] = self._functions(braces(text, match.start()))

    @staticmethod
    def _flat(body):
        """The declarations of a struct without what is in inner braces and brackets."""
        flat, depth = [], 0
        for c in body:
            depth -= c == "}"
            if depth == 0:
                flat.append(c)
            depth += c == "{"
        return "".join(flat)

    def _members(self, body):
        names = set()
        for declaration in self._flat(body).split(";"):
            if "(" in declaration.split("=")[0] and "function<" not in declaration:
                continue
            declaration = re.sub(r"<[^;]*?>(?=\s)", "", declaration.split("=")[0]).replace("{}", "")
            names |= {n.strip() for n in re.findall(r"(\w+)\s*(?:\[[^]]*\])?\s*(?=,|$)", declaration.strip())}
        return names

    def _functions(self, body):
        public = self._flat(body).split("private:")[0]
        return set(re.findall(r"(?<![\w:~])(\w+)\(", public))


class C:
    def __init__(self):
        text = without_comments(read("capi/include/reckoner.h"))
        self.enums = {m[1]: values(braces(text, m.start())) for m in re.finditer(r"\benum reckoner_(\w+) \{", text)}
        self.structs = {}
        for match in re.finditer(r"typedef struct reckoner_(\w+) \{", text):
            body = braces(text, match.start())
            self.structs[match[1]] = re.findall(r"(\w+)\)?(?:\[\w+\])*(?:\([^)]*\))?\s*(?=[,;])", body)
        self.functions = {kind: re.findall(rf"\breckoner_{kind}_(\w+)\(", text) for kind in ("client", "server")}


def compare_enums(cpp, c):
    for name in sorted(set(c.enums) - set(ENUMS) - C_ONLY_ENUMS):
        fail(f"enum reckoner_{name} is in no table: say which C++ enum it is")
    known = {cpp_name for cpp_name, _ in ENUMS.values()}
    for name in sorted(set(cpp.enums) - known - CPP_ONLY_ENUMS):
        fail(f"the C++ enum {name} is in no table: say which C enum it is")
    for name, (cpp_name, prefix) in ENUMS.items():
        if name not in c.enums or cpp_name not in cpp.enums:
            fail(f"there is no enum reckoner_{name} or {cpp_name}")
            continue
        in_c = {member.removeprefix("RECKONER_" + prefix).lower(): value for member, value in c.enums[name].items()}
        in_cpp = {member: value for member, value in cpp.enums[cpp_name].items()
                  if (cpp_name, member) not in NOT_IN_C}
        if in_c != in_cpp:
            fail(f"reckoner_{name} has {sorted(set(in_c.items()) - set(in_cpp.items()))} where {cpp_name} has "
                 f"{sorted(set(in_cpp.items()) - set(in_c.items()))}")
        if not squeezed(cpp_name).endswith(squeezed(name)):
            fail(f"the enum {cpp_name} is called reckoner_{name} in C")


def common_prefix(names):
    parts = [name.split("_") for name in names]
    common = 1
    while all(len(p) > common + 1 and p[:common + 1] == parts[0][:common + 1] for p in parts):
        common += 1
    return "_".join(parts[0][:common]) + "_"


def compare_enums_of_bindings(c):
    python = without_comments(read("bindings/python/src/reckoner/_generated.py"))
    csharp = read("bindings/unity/Runtime/Generated.cs")
    lua = read("bindings/lua/reckoner_declarations.lua")
    for name, members in c.enums.items():
        prefix = common_prefix(members)
        short = {squeezed(member.removeprefix(prefix)): value for member, value in members.items()}
        pascal = "".join(part.capitalize() for part in name.split("_"))
        body = re.search(rf"class {pascal}\(IntEnum\):\n((?:    \w+ = -?\d+\n)+)", python)
        in_python = {squeezed(n): int(v) for n, v in re.findall(r"(\w+) = (-?\d+)", body[1])} if body else None
        if in_python != short:
            fail(f"Python: {pascal} is {in_python} and not {short}")
        body = re.search(rf"public enum {pascal} \{{(.*?)\}}", csharp)
        in_csharp = {squeezed(n): v for n, v in values(body[1]).items()} if body else None
        if in_csharp != short:
            fail(f"C#: {pascal} is {in_csharp} and not {short}")
        for member, value in members.items():
            if not re.search(rf"\b{member}\b", lua):
                fail(f"Lua has no {member}")


def compare_functions(cpp, c):
    for kind in ("client", "server"):
        own = cpp.functions[kind.capitalize()]
        reached = set()
        for name in c.functions[kind]:
            if name.endswith("config_init"):
                continue
            target = FUNCTIONS[kind].get(name, name)
            reached.add(target)
            if "::" in target or target.startswith("~"):
                continue
            if target not in own:
                fail(f"reckoner_{kind}_{name}(): the C++ {kind} has no {target}()")
        left = own - reached - set(CPP_ONLY_FUNCTIONS[kind]) - {kind.capitalize()}
        for name in sorted(left):
            fail(f"C has no function for {kind.capitalize()}::{name}()")


def compare_functions_of_bindings(c):
    for kind in ("client", "server"):
        python = read(f"bindings/python/src/reckoner/{kind}.py")
        in_python = set(re.findall(r"^    def (\w+)\(", python, re.M))
        csharp = without_comments(read(f"bindings/unity/Runtime/{kind.capitalize()}.cs"))
        in_csharp = set(re.findall(r"\b(?:public|internal override)[^=;{(]*?(\w+)\s*(?:\(|=>)", csharp))
        lua = read("bindings/lua/reckoner_declarations.lua")
        for name in c.functions[kind]:
            if name.endswith("config_init"):
                continue
            wanted = PYTHON[kind].get(name, name)
            if wanted and wanted not in in_python:
                fail(f"Python: class {kind.capitalize()} has no {wanted}() for reckoner_{kind}_{name}()")
            wanted = CSHARP[kind].get(name, "".join(part.capitalize() for part in name.split("_")))
            if wanted and not {wanted, "Try" + wanted, wanted + "Of"} & in_csharp:
                fail(f"C#: class {kind.capitalize()} has no {wanted}() for reckoner_{kind}_{name}()")
            if f"reckoner_{kind}_{name}(" not in lua:  # whose methods have the names of the functions
                fail(f"Lua declares no reckoner_{kind}_{name}()")


def compare_members(cpp, c):
    for name, structs in STRUCTS.items():
        known = set().union(*(cpp.members.get(s, set()) for s in structs))
        if not known:
            fail(f"there is no {structs}")
        for member in c.structs[name]:
            if member.startswith("reserved") or member == "struct_size" or member in C_ONLY_MEMBERS.get(name, ()):
                continue
            wanted = MEMBERS.get(name, {}).get(member, member)
            names = {wanted} | {wanted.removeprefix(p) for p in PREFIXES}
            if not names & known:
                fail(f"reckoner_{name}.{member}: {' and '.join(structs)} have no such member")


def compare():
    """Fills `failures`. Returns what was compared."""
    failures.clear()
    cpp, c = Cpp(), C()
    compare_enums(cpp, c)
    compare_functions(cpp, c)
    compare_members(cpp, c)
    compare_enums_of_bindings(c)
    compare_functions_of_bindings(c)
    counts = f"{len(c.enums)} enums, {sum(map(len, c.functions.values()))} functions, {len(STRUCTS)} structs"
    if len(c.enums) < 15 or min(map(len, c.functions.values())) < 30 or len(cpp.enums) < 15:
        fail(f"the headers were not read: {counts}")
    return counts


def main():
    global ROOT, changed
    if sys.argv[1:] == ["--check-itself"]:
        unnoticed = []
        for changed in CHANGES:
            compare()
            if not failures:
                unnoticed.append(changed)
        sys.exit("".join(f"not noticed: {change}\n" for change in unnoticed) or 0)
    if len(sys.argv) > 1:
        ROOT = pathlib.Path(sys.argv[1])
    counts = compare()
    if failures:
        sys.exit("\n".join(failures))
    print(counts)


if __name__ == "__main__":
    main()
