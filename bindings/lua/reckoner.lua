-- SPDX-License-Identifier: MIT
-- Reckoner for LuaJIT and LÖVE. Errors of the library are Lua errors with its text.
--
--   local reckoner = require "reckoner"
--   local client = reckoner.client { host = "127.0.0.1", port = 26000, insecure = true }
--
-- Every function reckoner_client_NAME(client, ...) of reckoner.h is the method client:NAME(...), and so for servers. A
-- method returns true, or false if there is no result; functions with one output return it, or nil. Entities are 64-bit
-- numbers (cdata): use reckoner.key(entity) as the index of a table.
local ffi = require "ffi"
local declared = require "reckoner_declarations"

local names = { Windows = "reckoner.dll", OSX = "libreckoner.2.dylib" }

-- Loads the library. Raises an error if it is missing or older than `needs`.
local function load(path, needs)
  local found, lib = pcall(ffi.load, path)
  if not found then error("cannot load the Reckoner library: " .. tostring(lib), 0) end
  local has, check_version = pcall(function() return lib.reckoner_check_version end)
  if not has then error(path .. " is older than version " .. needs .. " of the Reckoner library", 0) end
  local why = ffi.new("char[200]")
  if check_version(needs, why, 200) ~= 0 then error(ffi.string(why), 0) end
  return lib
end

-- The library of the install tree that this file is in (cmake --install); nil in other places.
local function installed(name)
  local has, folder = pcall(require, "reckoner_installed")
  if not has then return nil end
  local own = debug.getinfo(1, "S").source:match("^@(.*)[/\\]") or "."
  local path = (folder:match("^/") or folder:match("^%a:")) and folder or own .. "/" .. folder
  local file = io.open(path .. "/" .. name, "rb")
  if not file then return nil end
  file:close()
  return path .. "/" .. name
end

local name = names[ffi.os] or "libreckoner.so.2"
local path = os.getenv("RECKONER_LIBRARY") or installed(name) or name
local C = load(path, declared.version)
local M = { C = C, load = load, version = ffi.string(C.reckoner_version()) }

-- True for RECKONER_OK, false for RECKONER_NOTHING; an error otherwise.
local function check(result, detail)
  if result >= 0 then return result == 0 end
  local text = ffi.string(C.reckoner_error_text(result))
  error(detail and text .. ": " .. detail or text, 3)
end
M.check = check

-- A number for table indices. Ids are exact as Lua numbers until a slot was used two million times.
function M.key(entity)
  return entity < 9007199254740992ULL and tonumber(entity) or tostring(entity)
end

-- A struct with its struct_size and with its defaults, and the given members.
function M.struct(name, members)
  local made = ffi.new("reckoner_" .. name)
  local has, init = pcall(function() return C["reckoner_" .. name .. "_init"] end)
  if has then init(made, ffi.sizeof(made)) else made.struct_size = ffi.sizeof(made) end
  for member, value in pairs(members or {}) do made[member] = value end
  return made
end

-- A state: position = { x, y, z } in m, velocity, acceleration, orientation = { x, y, z, w }, angular_velocity.
function M.state(members)
  local made = ffi.new("reckoner_state")
  C.reckoner_state_init(made)
  for member, values in pairs(members or {}) do
    for i, value in ipairs(values) do made[member][i - 1] = value end
  end
  return made
end

-- A value of a user field: a boolean, a string, or a number with the type "integer" (usual) or "real".
function M.value(value, type)
  local made = ffi.new("reckoner_value")
  if _G.type(value) == "boolean" then
    made.type, made.integer = C.RECKONER_VALUE_BOOLEAN, value and 1 or 0
  elseif _G.type(value) == "string" then
    if #value > 64 then error("a blob has at most 64 bytes", 2) end
    made.type, made.blob_size = C.RECKONER_VALUE_BLOB, #value
    ffi.copy(made.blob, value, #value)
  elseif type == "real" then
    made.type, made.real = C.RECKONER_VALUE_REAL, value
  else
    made.type, made.integer = C.RECKONER_VALUE_INTEGER, value
  end
  return made
end

local function lua_value(value)
  if value.type == C.RECKONER_VALUE_BOOLEAN then return value.integer ~= 0 end
  if value.type == C.RECKONER_VALUE_INTEGER then return tonumber(value.integer) end
  if value.type == C.RECKONER_VALUE_REAL then return value.real end
  return ffi.string(value.blob, value.blob_size)
end

-- The settings blend_curve and blend_s of a profile, "article", "balanced", "accurate" or "gentle": for reckoner.client()
-- and M.struct("playout").
function M.blend_settings(profile)
  local curve, duration_s = ffi.new("int32_t[1]"), ffi.new("double[1]")
  check(C.reckoner_blend_settings(C["RECKONER_PROFILE_" .. profile:upper()], curve, duration_s))
  return { blend_curve = curve[0], blend_s = duration_s[0] }
end

function M.make_key()
  local key = ffi.new("uint8_t[32]")
  check(C.reckoner_make_key(key))
  return key
end

-- A token for one client and one server on this machine's address 127.0.0.1, valid for a minute.
function M.issue_token(key, port, client_id)
  local address = ffi.new("reckoner_address[1]", { { 0x7f000001, port } })
  local grant = M.struct("grant", { server_count = 1, servers = address, client_id = client_id,
                                    expires_s = os.time() + 60 })
  local token = ffi.new("uint8_t[1024]")
  check(C.reckoner_issue_token(grant, key, token))
  return token
end

-- Calls a function that writes an index, or the reason why there is none.
local function find(call, ...)
  local index, why = ffi.new("uint32_t[1]"), ffi.new("char[1000]")
  local arguments, count = { ... }, select("#", ...)
  arguments[count + 1], arguments[count + 2], arguments[count + 3] = index, why, 1000
  local result = call(unpack(arguments, 1, count + 3))
  if result ~= 0 then error(ffi.string(why[0] ~= 0 and why or C.reckoner_error_text(result)), 3) end
  return index[0]
end

-- The number of the archetype with this name in a list of archetypes, for server:spawn(). Look names up once, at the
-- start: the error for an unknown name lists the archetypes, the most similar one first.
function M.find_archetype(archetypes, name)
  local array = ffi.new("reckoner_archetype[?]", math.max(1, #archetypes))
  for i, archetype in ipairs(archetypes) do array[i - 1] = archetype end
  return find(C.reckoner_find_archetype, array, #archetypes, name)
end
-- The number of the archetype's field with this name, for server:set_field().
function M.find_field(archetype, name) return find(C.reckoner_find_field, archetype, name) end

-- ---- Handles ----------------------------------------------------------------------------------------------------

-- Functions whose last parameter is an output, and its type.
local outputs = {
  client = { lost_for = "double", server_time = "double", user_value = "uint64_t", owned_frame = "reckoner_entity",
             predict_spawn = "reckoner_entity", owned = "state", motion_at = "state", field = "value",
             debug = "shown_debug", get_stats = "client_stats", shown_one = "shown", poll_correction = "correction" },
  server = { user_value = "uint64_t", frame_of = "reckoner_entity", owner = "reckoner_client_id", route_length = "double",
             spawn = "reckoner_entity", spawn_short_lived = "reckoner_entity", rewind_status = "uint32_t",
             state = "state", in_world = "state", route_state = "state", field = "value", pose_seen_by = "pose",
             kick_player = "size_t", debug = "entity_debug", get_stats = "server_stats", get_session_stats = "session_stats",
             traffic_of = "entity_traffic", get_prediction_stats = "prediction_stats" },
}
local unsized = { state = true, value = true, pose = true }

local function with_output(call, type)
  local scalar = type:match("_t$") or type == "double" or type:match("^reckoner_")
  return function(self, ...)
    local out = scalar and ffi.new(type .. "[1]") or unsized[type] and ffi.new("reckoner_" .. type) or M.struct(type)
    local arguments, count = { ... }, select("#", ...)
    arguments[count + 1] = out
    if not call(self, unpack(arguments, 1, count + 1)) then return nil end
    if scalar then return out[0] end
    return type == "value" and lua_value(out) or out
  end
end

local function class(kind)
  local methods = {}
  local prefix = "reckoner_" .. kind .. "_"
  -- The C handle. An error after close().
  function methods:pointer()
    return self.handle or error("this " .. kind .. " is closed", 3)
  end
  -- Ends it at once. To deliver reliable messages that the other end still lacks, call client:leave() before, and
  -- update() until it returns RECKONER_STATUS_DISCONNECTED; or server:shutdown(), and receive() until get_stats().closing is 0.
  function methods:close()
    local handle = self.handle
    self.handle = nil
    if handle == nil then return end
    ffi.gc(handle, nil)
    if kind == "client" then C.reckoner_client_leave(handle) end
    C[prefix .. "destroy"](handle)
  end
  local function detail(handle, result)
    local explained = result == C.RECKONER_ERROR_UNKNOWN or result == C.RECKONER_ERROR_REFUSED
    local failure = explained and C[prefix .. "call_error"](handle) or 0
    return failure ~= 0 and ffi.string(C.reckoner_call_error_text(failure)) or nil
  end
  -- check(), with the reason why the last call failed.
  function methods:check(result)
    return check(result, detail(self.handle, result))
  end
  local function index(_, name)
    local method = methods[name]
    if method ~= nil then return method end
    local has, call = pcall(function() return C[prefix .. name] end)
    if not has then return nil end
    method = function(self, ...)
      local handle = self:pointer()
      local result = call(handle, ...)
      return check(result, detail(handle, result))
    end
    if outputs[kind][name] then method = with_output(method, outputs[kind][name]) end
    methods[name] = method
    return method
  end
  local meta = { __index = index }

  local function create(options)
    local keep, config = {}, M.struct(kind .. "_config")
    local archetypes = options.archetypes or { M.struct("archetype") }
    local array = ffi.new("reckoner_archetype[?]", math.max(1, #archetypes))
    for i, archetype in ipairs(archetypes) do array[i - 1] = archetype end
    config.archetypes, config.archetype_count = array, #archetypes
    for name, value in pairs(options) do
      if name == "insecure" then
        config.insecure = value and 1 or 0
      elseif name ~= "archetypes" then
        config[name] = value
      end
    end
    local made, why = ffi.new(prefix:sub(1, -2) .. "*[1]"), ffi.new("char[400]")
    if C[prefix .. "create"](config, made, why, 400) ~= 0 then error(ffi.string(why), 2) end
    keep.options, keep.array = options, array
    return setmetatable({ handle = ffi.gc(made[0], C[prefix .. "destroy"]), keep = keep }, meta)
  end
  return methods, create
end

-- Iterators over what a poll function returns. The struct is used again.
local function poller(method, struct)
  return function(self)
    local polled = M.struct(struct)
    return function() return self[method](self, polled) and polled or nil end
  end
end

local client, server
client, M.client = class("client")
server, M.server = class("server")
client.events, client.messages = poller("poll_event", "client_event"), poller("poll_message", "message")
server.events, server.messages = poller("poll_event", "server_event"), poller("poll_message", "message")

-- The bytes of a message, and the text of an event, as a string.
function M.bytes(message) return ffi.string(message.bytes, message.size) end
function M.text(pointer) return pointer ~= nil and ffi.string(pointer) or nil end

function client:status() return C.reckoner_client_status(self:pointer()) end
function client:refusal() return ffi.string(C.reckoner_client_refusal(self:pointer())) end
function client:name(entity) return M.text(C.reckoner_client_name(self:pointer(), entity)) end
function client:call_error() return C.reckoner_client_call_error(self:pointer()) end

-- Sets the time of this and all following calls, and handles everything that has arrived. Returns the status. An error if
-- the server refuses or kicks this client.
function client:update(now_s)
  check(C.reckoner_client_update(self:pointer(), now_s))
  local status = self:status()
  if status == C.RECKONER_STATUS_REFUSED then error(self:refusal(), 2) end
  return status
end

-- All visible entities: an array of reckoner_shown from index 0 on, and their number. Valid until the next call.
function client:shown()
  self.shown_count = self.shown_count or ffi.new("size_t[1]")
  while true do
    self.shown_array = self.shown_array or ffi.new("reckoner_shown[?]", self.shown_capacity or 64)
    local result = C.reckoner_client_shown(self:pointer(), self.shown_array, ffi.sizeof("reckoner_shown"),
                                           self.shown_capacity or 64, self.shown_count)
    if result ~= C.RECKONER_ERROR_CAPACITY then
      check(result)
      return self.shown_array, tonumber(self.shown_count[0])
    end
    self.shown_array, self.shown_capacity = nil, 2 * tonumber(self.shown_count[0])
  end
end

-- The data and the end of a short-lived entity; nil for others.
function client:short_lived(entity)
  local data, size, end_s = ffi.new("const uint8_t*[1]"), ffi.new("size_t[1]"), ffi.new("double[1]")
  if not check(C.reckoner_client_short_lived(self:pointer(), entity, data, size, end_s)) then return nil end
  return ffi.string(data[0], size[0]), end_s[0]
end

-- A string of bytes of the library. The pointer may be null if the size is 0.
local function string_at(pointer, size) return size > 0 and ffi.string(pointer, size) or "" end

-- The player's own body. For each picture, after update() and events():
--
--   local correction = client:poll_correction()
--   if correction then
--     for entity, state, game_state in reckoner.corrected(correction) do restore(entity, state, game_state) end
--     for tick, input in reckoner.replayed(correction) do step(tick, input) end
--   end
--   for tick, input in client:steps(keys) do step(tick, input) end
--
-- step() steps the game's predicted entities and passes each result to client:predict(entity, tick, state, game_state).
-- Inputs and game states are strings. Poll the next correction, and step, only after both loops over this one.

-- The tick that the game must step now, and the player's input in it; nil if none is due. `input`, at most 64 bytes, is
-- what the player does now.
function client:next_step(input)
  local handle = self:pointer()
  self.step = self.step or ffi.new("reckoner_prediction_step")
  if not self:check(C.reckoner_client_next_step(handle, input, #input, self.step)) then return nil end
  return self.step.tick, string_at(self.step.input, self.step.input_size)
end
-- The ticks that the game must step now: next_step() until none is due.
function client:steps(input)
  return function() return self:next_step(input) end
end

-- What the game has computed for an entity that it predicts: its state after `tick`, a tick of steps() or of a correction,
-- and the game state that the server's game sets with server:set_game_state(): a string, or nil.
function client:predict(entity, tick, state, game_state)
  local handle = self:pointer()
  return self:check(C.reckoner_client_predict(handle, entity, tick, state, game_state, game_state and #game_state or 0))
end

-- The entities of a correction: id, state (valid until the next poll_correction() or update()) and game state.
function M.corrected(correction)
  local i = -1
  return function()
    i = i + 1
    if i >= correction.entity_count then return nil end
    local one = correction.entities[i]
    return one.entity, one.state, string_at(one.game_state, tonumber(one.game_state_size))
  end
end
-- The ticks since a correction, oldest first, and the player's inputs in them.
function M.replayed(correction)
  local i = -1
  return function()
    i = i + 1
    if i >= correction.step_count then return nil end
    local one = correction.steps[i]
    return one.tick, string_at(one.input, one.input_size)
  end
end

-- Bytes of the game that belong to the exact state of an entity, for example a cooldown: a string of at most 128 bytes.
function server:set_game_state(entity, bytes)
  local handle = self:pointer()
  return self:check(C.reckoner_server_set_game_state(handle, entity, bytes, #bytes))
end

-- What a player does in the next tick, as a string, which is empty if the player does nothing; for how many ticks the
-- server repeats it (0: it is the input of this tick); and the server time that the player saw, s. Call it once for each
-- client in the body of ticks().
function server:input(peer)
  local handle = self:pointer()
  self.taken = self.taken or M.struct("player_input")
  self:check(C.reckoner_server_input(handle, peer, self.taken))
  return string_at(self.taken.bytes, tonumber(self.taken.size)), self.taken.repeated, self.taken.seen_s
end

function server:port() return C.reckoner_server_port(self:pointer()) end
function server:call_error() return C.reckoner_server_call_error(self:pointer()) end

-- The times of all ticks that are due. Move the entities in the body of the loop; then the tick runs.
function server:ticks(now_s)
  local time, started = ffi.new("double[1]"), false
  return function()
    if started then self:tick(now_s) end
    started = true
    check(C.reckoner_server_next_tick(self:pointer(), nil, time))
    return time[0] <= now_s and time[0] or nil
  end
end

-- The ids of entities near a point, as a table of cdata.
function server:near(x, y, z, radius_m)
  local centre, count, capacity = ffi.new("double[3]", x, y, z), ffi.new("size_t[1]"), 64
  while true do
    local ids = ffi.new("reckoner_entity[?]", capacity)
    local result = C.reckoner_server_entities_near(self:pointer(), centre, radius_m, ids, capacity, count)
    local found = tonumber(count[0])
    if result ~= C.RECKONER_ERROR_CAPACITY then
      check(result)
      local list = {}
      for i = 0, found - 1 do list[i + 1] = ids[i] end
      return list
    end
    capacity = found
  end
end

return M
