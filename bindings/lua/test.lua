-- SPDX-License-Identifier: MIT
-- luajit test.lua LAYOUTS OLD_LIBRARY     LAYOUTS: the output of bindings_layouts
package.path = (arg[0]:match("^(.*)/") or ".") .. "/?.lua;" .. package.path
local ffi = require "ffi"
local reckoner = require "reckoner"
local C = reckoner.C
ffi.cdef "int usleep(unsigned); typedef struct { long s, ns; } test_time; int clock_gettime(int, test_time*);"

local begin
local function now_s()
  local t = ffi.new("test_time")
  ffi.C.clock_gettime(1, t)
  local s = tonumber(t.s) + 1e-9 * tonumber(t.ns)
  begin = begin or s
  return s - begin
end

local function throws(text, call, ...)
  local ok, message = pcall(call, ...)
  assert(not ok, "no error, but expected: " .. text)
  assert(tostring(message):find(text, 1, true), tostring(message) .. " does not contain " .. text)
end

-- A server and a sealed client in one thread.
local function world(options, client_options)
  local key = reckoner.make_key()
  local w = { events = {}, peer = 0, each_tick = function() end }
  options = options or {}
  options.host, options.key = "127.0.0.1", key
  w.server = reckoner.server(options)
  function w.step()
    local now = now_s()
    w.server:receive(now)
    for event in w.server:events() do
      if event.kind == C.RECKONER_SERVER_EVENT_CLIENT_JOINED then w.peer = event.client end
    end
    for tick_s in w.server:ticks(now) do w.each_tick(tick_s) end
    if w.client then
      w.client:update(now)
      for event in w.client:events() do
        w.events[#w.events + 1] = { kind = event.kind, entity = event.entity, predicted = event.predicted }
      end
    end
    return now
  end
  function w.wait_for(so)
    local last = now_s() + 20  -- generous: the machine may be busy
    while now_s() < last do
      local now = w.step()
      if so(now) then return now end
      ffi.C.usleep(2000)
    end
    error("it did not become true in 20 s", 2)
  end
  function w.had(kind, entity)
    for _, event in ipairs(w.events) do
      if event.kind == kind and event.entity == entity then return event end
    end
  end
  function w.join(more)
    local all = { host = "127.0.0.1", port = w.server:port(), token = reckoner.issue_token(key, w.server:port(), 7001),
                  archetypes = options.archetypes }
    for name, value in pairs(more or {}) do all[name] = value end
    w.client = reckoner.client(all)
    w.wait_for(function() return w.client:status() == C.RECKONER_STATUS_JOINED and w.client:server_time() end)
  end
  function w.close()
    if w.client then w.client:close() end
    w.server:close()
  end
  return w
end

local tests = {}

function tests.sizes_and_offsets_are_those_of_c()
  local count = 0
  for line in io.lines(arg[1]) do
    local name, first, second = line:match("^(%S+) (%d+) ?(%d*)$")
    local struct, member = name:match("^([^.]+)%.(.+)$")
    if member then
      assert(ffi.offsetof(struct, member) == tonumber(first), line)
      local one = ffi.new(struct)
      local kind = type(one[member]) == "cdata" and ffi.sizeof(one[member]) or nil
      if kind and not tostring(ffi.typeof(one[member])):find("&") then assert(kind == tonumber(second), line) end
    else
      assert(ffi.sizeof(name) == tonumber(first), line)
    end
    count = count + 1
  end
  assert(count > 300)
end

function tests.every_function_is_in_the_library()
  local text = io.open((arg[0]:match("^(.*)/") or ".") .. "/reckoner_declarations.lua"):read("*a")
  local count = 0
  for name in text:gmatch("(reckoner_[%w_]+)%(") do
    assert(pcall(function() return C[name] end), name)
    count = count + 1
  end
  assert(count > 110)
end

function tests.a_moving_entity_is_shown_where_it_is()
  local w = world()
  local car = w.server:spawn(0, "car", reckoner.state(), 0)
  local function circle(t)
    return reckoner.state { position = { 20 * math.cos(t), 20 * math.sin(t), 0 },
                            velocity = { -20 * math.sin(t), 20 * math.cos(t), 0 } }
  end
  w.each_tick = function(t) w.server:move(car, circle(t)) end
  w.join()
  local last = now_s() + 1.5
  w.wait_for(function(t) return t > last and select(2, w.client:shown()) == 1 end)
  local shown, count = w.client:shown()
  assert(count == 1 and shown[0].entity == car and w.client:name(car) == "car")
  local truth = circle(w.client:server_time()).position
  local away = math.sqrt((shown[0].state.position[0] - truth[0]) ^ 2 + (shown[0].state.position[1] - truth[1]) ^ 2)
  assert(away < 1, away)
  assert(w.client:get_stats().updates_applied > 0 and w.server:get_stats().clients == 1)
  assert(w.client:debug(car).entity == car and w.server:debug(car).threshold_m > 0)
  for i = 1, 100 do w.server:spawn(0, "many", reckoner.state { position = { i, 0, 0 } }, 0) end
  w.wait_for(function() return select(2, w.client:shown()) == 101 end)
  w.close()
end

function tests.fields_messages_and_nearby_entities()
  local specs = ffi.new("reckoner_field_spec[2]")
  for i = 0, 1 do C.reckoner_field_spec_init(specs[i], ffi.sizeof(specs[i])) end
  specs[0].type, specs[0].name = C.RECKONER_VALUE_INTEGER, "health"
  specs[1].type, specs[1].name = C.RECKONER_VALUE_BLOB, "tag"
  local tank_kind = reckoner.struct("archetype", { name = "tank", fields = specs, field_count = 2 })
  local w = world { archetypes = { tank_kind } }
  local tank = w.server:spawn(0, "tank", reckoner.state(), 0)
  w.server:spawn(0, "far", reckoner.state { position = { 500, 0, 0 } }, 0)
  local near = w.server:near(0, 0, 0, 25)
  assert(#near == 1 and near[1] == tank)
  w.join()
  w.wait_for(function() return w.client:shown_one(tank) end)
  w.server:set_field(tank, 0, reckoner.value(42))
  w.server:set_field(tank, 1, reckoner.value("grün"))
  w.wait_for(function() return w.client:field(tank, 1) == "grün" end)
  assert(w.client:field(tank, 0) == 42)
  assert(reckoner.find_archetype({ tank_kind }, "tank") == 0)
  assert(reckoner.find_field(tank_kind, ffi.string(specs[1].name)) == 1)
  local found, why = pcall(reckoner.find_archetype, { tank_kind }, "tonk")
  assert(not found and why:find("there is no archetype 'tonk'; the archetypes are 'tank'", 1, true), why)
  found, why = pcall(reckoner.find_field, tank_kind, nil)
  local expected = ffi.string(C.reckoner_error_text(C.RECKONER_ERROR_ARGUMENT))
  assert(not found and #expected > 0 and why:find(expected, 1, true), why)
  local traffic = w.server:traffic_of(tank)
  assert(traffic.spawn_bits > 0 and traffic.field_bits > 0)
  local count, bits = ffi.new("uint64_t[1]"), ffi.new("uint64_t[1]")
  w.server:traffic(C.RECKONER_SENT_SPAWN, count, bits)
  assert(count[0] >= 2 and bits[0] >= traffic.spawn_bits)
  w.client:set_user_value(tank, 77)
  assert(w.client:user_value(tank) == 77)
  w.server:send(w.peer, "hello", 5, C.RECKONER_DELIVERY_RELIABLE, nil)
  local got
  w.wait_for(function()
    for message in w.client:messages() do got = reckoner.bytes(message) end
    return got
  end)
  assert(got == "hello")
  w.close()
end

function tests.predicted_short_lived_spawn()
  local w = world()
  w.join()
  local muzzle = reckoner.state { position = { 1, 0, 1 }, velocity = { 50, 0, 0 } }
  local predicted = w.client:predict_spawn(0, muzzle, 77, 5)
  local end_s = ffi.new("double[1]", now_s() + 100)
  local shot = w.server:spawn_short_lived(0, muzzle, end_s, "rocket", 6, w.peer, 77, 0)
  w.wait_for(function() return w.had(C.RECKONER_CLIENT_EVENT_SPAWNED, shot) end)
  assert(w.had(C.RECKONER_CLIENT_EVENT_SPAWNED, shot).predicted == predicted)
  local data, ends = w.client:short_lived(shot)
  assert(data == "rocket" and math.abs(ends - end_s[0]) < 0.01)
  local refused = w.client:predict_spawn(0, muzzle, 78, 60)
  w.server:refuse_prediction(w.peer, 78)
  w.wait_for(function() return w.had(C.RECKONER_CLIENT_EVENT_PREDICTION_FAILED, refused) end)
  w.close()
end

function tests.ownership_figures_and_kick()
  local w = world()
  local avatar = w.server:spawn(0, "avatar", reckoner.state(), 0)
  w.join()
  w.server:give(avatar, w.peer, nil)
  w.wait_for(function() return w.had(C.RECKONER_CLIENT_EVENT_GIVEN, avatar) end)
  assert(w.server:owner(avatar) == w.peer and w.client:owned(avatar))
  w.wait_for(function() return select(2, w.client:shown()) == 1 end)  -- only what is shown has a motion
  assert(math.abs(w.client:motion_at(avatar, w.client:server_time()).position[0]) < 0.1)
  assert(w.client:motion_at(avatar + 1, w.client:server_time()) == nil)
  w.wait_for(function()
    pcall(w.client.move, w.client, avatar, reckoner.state { position = { 0.5, 0, 0 } })
    return math.abs(w.server:state(avatar).position[0] - 0.5) < 0.1
  end)
  throws("owns", w.server.move, w.server, avatar, reckoner.state())
  assert(w.server:get_session_stats(w.peer).connected == 1)
  assert(w.server:kick_player(7, "cheating") == 0, "an insecure server knows no players")
  assert(w.server:kick(w.peer, "cheating"))
  throws("kicked by the server: cheating", w.wait_for, function() return false end)
  w.close()
end

-- A car that accelerates while a key is held: the server decides, and the client's game predicts it.
function tests.the_players_own_car_is_predicted()
  local tick_s = 1 / 60
  local function stepped(car, input)
    local speed = math.max(0, math.min(20, car.speed + (input == "w" and 12 or -4) * tick_s))
    return { x = car.x + speed * tick_s, speed = speed }
  end
  local function state_of(car)
    return reckoner.state { position = { car.x, 0, 0 }, velocity = { car.speed, 0, 0 } }
  end
  local function bytes_of(car) return ffi.string(ffi.new("double[1]", car.speed), 8) end

  local w = world()
  local truth, own, mine, push = { x = 0, speed = 0 }, nil, false, 0
  local car = w.server:spawn(0, "car", state_of(truth), 0)
  local path, results, corrections, replayed, last_tick = {}, {}, {}, 0, nil
  local tick = ffi.new("uint32_t[1]")
  local seen_s
  w.each_tick = function()
    local input, _, seen = w.server:input(w.peer)
    seen_s = seen
    truth = stepped(truth, input)
    truth.x, push = truth.x + push, 0
    w.server:move(car, state_of(truth))
    w.server:set_game_state(car, bytes_of(truth))
    w.server:next_tick(tick, nil)
    path[tick[0]] = truth.x
  end
  w.join()
  assert(w.server:let_predict(car, w.peer, nil))
  local function predict(tick, input)
    own = stepped(own, input)
    w.client:predict(car, tick, state_of(own), bytes_of(own))
    results[tick] = own.x
  end
  local function client_step(now)
    mine = w.had(C.RECKONER_CLIENT_EVENT_PREDICTION_BEGAN, car) and
           not w.had(C.RECKONER_CLIENT_EVENT_PREDICTION_ENDED, car)
    local correction = w.client:poll_correction()
    if correction then
      corrections[correction.reason] = (corrections[correction.reason] or 0) + 1
      for entity, state, game_state in reckoner.corrected(correction) do
        assert(entity == car)
        own = { x = state.position[0], speed = ffi.cast("const double*", game_state)[0] }
      end
      for tick, input in reckoner.replayed(correction) do
        predict(tick, input)
        replayed = replayed + 1
      end
    end
    for tick, input in w.client:steps(now % 1 < 0.6 and "w" or "") do
      last_tick = tick
      if mine then predict(tick, input) end
    end
  end
  local function wait_for(so)
    w.wait_for(function(now)
      client_step(now)
      return so(now)
    end)
  end
  local last = now_s() + 1.5
  wait_for(function(now) return now > last and own and own.speed > 1 end)
  assert(corrections[C.RECKONER_CORRECTION_BEGINS] >= 1)
  local from = last_tick
  wait_for(function()
    return last_tick >= from + 60 and path[from + 60] and w.server:get_prediction_stats(w.peer).results > 60
  end)
  local before = w.server:get_prediction_stats(w.peer)
  assert(before.ticks > 60 and seen_s > 0)
  -- The machine may be busy.
  if before.ticks_repeated == 0 then assert(results[from + 60] == path[from + 60], "both ends compute the same") end
  local pushed_s, replayed_before = 0, replayed
  wait_for(function(now)
    if corrections[C.RECKONER_CORRECTION_DIFFERS] and replayed > replayed_before then return true end
    if now > pushed_s + 0.5 then pushed_s, replayed_before, push = now, replayed, 3 end
  end)
  assert(w.client:get_stats().mispredictions >= 2 and w.client:get_stats().input_lead_s ~= 0)
  assert(w.client:shown_one(car))
  local why = w.client:debug(car)
  assert(why.predicted == 1 and why.corrected == 1 and why.prediction_newest == last_tick)
  assert(why.prediction_corrections == w.client:get_stats().mispredictions and why.prediction_ticks > 60)

  throws("too long", w.server.set_game_state, w.server, car, ("x"):rep(129))
  throws("predicts", w.server.give, w.server, car, w.peer, nil)
  throws("has not stepped", w.client.predict, w.client, car, last_tick + 1000, state_of(own))
  throws("argument", w.client.next_step, w.client, ("x"):rep(65))
  assert(w.server:input(99) == "" and w.server:get_prediction_stats(99) == nil)
  assert(w.server:stop_prediction(car, w.peer))
  wait_for(function() return not mine end)
  throws("does not predict", w.client.predict, w.client, car, last_tick, state_of(own))
  w.close()
end

function tests.bad_input()
  throws("cannot load the Reckoner library", reckoner.load, "/nowhere/libreckoner.so", "0.2.0")
  throws("is older than version", reckoner.load, arg[2], "0.2.0")
  throws("needs version 99.0.0 of the Reckoner library, this is", reckoner.load,
         os.getenv("RECKONER_LIBRARY"), "99.0.0")
  throws("tick_rate_hz", reckoner.server, { host = "127.0.0.1", insecure = true, tick_rate_hz = -1 })
  local gentle = reckoner.blend_settings("gentle")
  assert(gentle.blend_curve == C.RECKONER_BLEND_DAMPED and gentle.blend_s == 0.25)
  throws("no_such", reckoner.client, { host = "127.0.0.1", port = 1, insecure = true, no_such = 1 })
  throws("at most 64", reckoner.value, ("x"):rep(65))
  local w = world()
  throws("archetype", w.join, { archetypes = { reckoner.struct("archetype", { name = "another" }) } })
  throws("finite", w.server.spawn, w.server, 0, "", reckoner.state { position = { 0 / 0, 0, 0 } }, 0)
  throws("no such entity", w.server.despawn, w.server, 12345)
  w.close()
end

function tests.every_call_after_close_is_an_error()
  local w = world()
  w.join()
  w.close()
  w.close()
  local text = io.open((arg[0]:match("^(.*)/") or ".") .. "/reckoner_declarations.lua"):read("*a")
  local count = 0
  for kind, name in text:gmatch("reckoner_(%l+)_([%w_]+)%(reckoner_%l+ %*") do
    if name ~= "destroy" and w[kind] then
      count = count + 1
      throws("is closed", w[kind][name], w[kind])
    end
  end
  for kind, name in text:gmatch("reckoner_(%l+)_([%w_]+)%(const reckoner_%l+ %*") do
    if name ~= "create" and w[kind] then
      count = count + 1
      throws("is closed", w[kind][name], w[kind])
    end
  end
  assert(count > 80, count)
end

local passed, failed = 0, 0
for name, test in pairs(tests) do
  local ok, message = xpcall(test, debug.traceback)
  if ok then passed = passed + 1 else failed = failed + 1; print(name, message) end
end
print(("Lua: %d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
