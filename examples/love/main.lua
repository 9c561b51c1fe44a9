-- SPDX-License-Identifier: MIT
-- Joins a server and draws its entities from above.
--
--   love examples/love HOST PORT [--screenshot FILE SECONDS]
--
-- Mouse wheel: zoom. M: the next mode. T: trails. D: debug, the newest motion behind each shown pose. P: pause. Escape: quit.
-- The server must admit clients without tokens, and its only archetype must be the default one, "entity".
local here = love.filesystem.getSource()
package.path = here .. "/../../bindings/lua/?.lua;" .. here .. "/?.lua;" .. package.path
local reckoner = require "reckoner"
local C = reckoner.C

local client, problem
local host, port = "127.0.0.1", 26000
local screenshot, screenshot_s
local zoom, centre_x, centre_y = 10, 0, 0  -- pixels per metre; metres
local show_trails, show_debug, paused = true, false, false
local entities = {}  -- by reckoner.key(): the name, a colour and the trail
local mode = 1
local modes = {
  { name = "present (prediction)", mode = C.RECKONER_MODE_PRESENT },
  { name = "adaptive (interpolation)", mode = C.RECKONER_MODE_ADAPTIVE },
  { name = "delayed 200 ms", mode = C.RECKONER_MODE_DELAYED, delay_s = 0.2 },
}
local status_names = { [0] = "connecting", "joining", "joined", "refused", "disconnected", "reconnecting" }
local TRAIL_POINTS = 90

local function now_s() return love.timer.getTime() end

function love.load(arguments)
  host, port = arguments[1] or host, tonumber(arguments[2]) or port
  if arguments[3] == "--screenshot" then screenshot, screenshot_s = arguments[4], now_s() + tonumber(arguments[5]) end
  love.graphics.setBackgroundColor(0.08, 0.09, 0.11)
  love.graphics.setFont(love.graphics.newFont(13))
  client = reckoner.client { host = host, port = port, insecure = true, reconnects = 1 }
end

-- A colour that is the same for an entity on every screen.
local function colour_of(key)
  local hue = (tonumber(key) or 0) % 4294967296 * 0.618034 % 1 * 6
  local function channel(n)
    local k = (n + hue) % 6
    return 0.95 - 0.6 * math.max(0, math.min(k, 4 - k, 1))
  end
  return { channel(5), channel(3), channel(1) }
end

local function on_event(event)
  local key = reckoner.key(event.entity)
  if event.kind == C.RECKONER_CLIENT_EVENT_SPAWNED then
    entities[key] = { name = client:name(event.entity) or "", colour = colour_of(key), trail = {} }
  elseif event.kind == C.RECKONER_CLIENT_EVENT_DESPAWNED then
    entities[key] = nil
  elseif event.kind == C.RECKONER_CLIENT_EVENT_TELEPORTED and entities[key] then
    entities[key].trail = {}  -- no line across a jump
  elseif event.kind == C.RECKONER_CLIENT_EVENT_RESTARTED then
    entities = {}
  end
end

function love.update()
  if problem then return end
  local ok, message = pcall(function()
    client:update(now_s())
    for event in client:events() do on_event(event) end
    for _ in client:messages() do end  -- this viewer has no game
  end)
  if not ok then problem = tostring(message) end  -- refused or kicked: the reason stays on the screen
end

local function to_screen(x, y)
  return love.graphics.getWidth() / 2 + (x - centre_x) * zoom, love.graphics.getHeight() / 2 - (y - centre_y) * zoom
end

local function draw_grid()
  local width, height = love.graphics.getDimensions()
  local step = zoom >= 4 and 10 or 100
  love.graphics.setColor(1, 1, 1, 0.07)
  for x = math.floor((centre_x - width / 2 / zoom) / step) * step, centre_x + width / 2 / zoom, step do
    local at = to_screen(x, 0)
    love.graphics.line(at, 0, at, height)
  end
  for y = math.floor((centre_y - height / 2 / zoom) / step) * step, centre_y + height / 2 / zoom, step do
    local _, at = to_screen(0, y)
    love.graphics.line(0, at, width, at)
  end
end

-- The angle about the z axis of an orientation x, y, z, w. Entities that only move face their velocity.
local function heading(state)
  local q, v = state.orientation, state.velocity
  local upright = math.abs(q[2]) < 1e-3 and math.abs(q[0]) + math.abs(q[1]) < 1e-3
  if upright and v[0] ^ 2 + v[1] ^ 2 > 0.01 then return math.atan2(v[1], v[0]) end
  return math.atan2(2 * (q[3] * q[2] + q[0] * q[1]), 1 - 2 * (q[1] ^ 2 + q[2] ^ 2))
end

local function draw_trail(entity, x, y)
  local trail = entity.trail
  trail[#trail + 1], trail[#trail + 2] = x, y
  while #trail > 2 * TRAIL_POINTS do
    table.remove(trail, 1)
    table.remove(trail, 1)
  end
  if not show_trails or #trail < 4 then return end
  local line = {}
  for i = 1, #trail, 2 do line[i], line[i + 1] = to_screen(trail[i], trail[i + 1]) end
  love.graphics.setColor(entity.colour[1], entity.colour[2], entity.colour[3], 0.35)
  love.graphics.line(line)
end

local function draw_entity(shown, entity)
  local state = shown.state
  draw_trail(entity, state.position[0], state.position[1])
  local x, y = to_screen(state.position[0], state.position[1])
  love.graphics.push()
  love.graphics.translate(x, y)
  love.graphics.rotate(-heading(state))
  love.graphics.setColor(entity.colour)
  love.graphics.polygon("fill", 9, 0, -6, 6, -3, 0, -6, -6)
  love.graphics.pop()
  if zoom >= 6 then
    love.graphics.setColor(1, 1, 1, 0.55)
    love.graphics.print(entity.name, x + 9, y - 16)
  end
  if not show_debug then return end
  local debug = client:debug(shown.entity)
  if debug then
    local mx, my = to_screen(debug.motion.position[0], debug.motion.position[1])
    love.graphics.setColor(1, 0.4, 0.3, 0.8)
    love.graphics.circle("line", mx, my, math.max(3, debug.threshold_m * zoom))
    love.graphics.line(x, y, mx, my)
  end
end

local function draw_overlay(count)
  local stats = client:get_stats()
  love.graphics.setColor(1, 1, 1, 0.9)
  love.graphics.print(("%s:%d  %s  %d entities  %s%s"):format(host, port, status_names[client:status()], count,
                      modes[mode].name, paused and "  paused" or ""), 12, 10)
  love.graphics.print(("round trip %.0f ms   behind server time %.0f ms   %.1f kB received   %d lost   %d fps"):format(
                      1000 * stats.round_trip_s, 1000 * stats.delay_s, tonumber(stats.wire_bytes_received) / 1000,
                      tonumber(stats.datagrams_lost), love.timer.getFPS()), 12, 30)
  love.graphics.setColor(1, 1, 1, 0.5)
  love.graphics.print("M mode   T trails   D debug   P pause   wheel zoom", 12, love.graphics.getHeight() - 26)
end

function love.draw()
  draw_grid()
  if problem then
    love.graphics.setColor(1, 0.5, 0.4)
    return love.graphics.printf(problem, 40, 40, love.graphics.getWidth() - 80)
  end
  local shown, count = client:shown()
  local sum_x, sum_y = 0, 0
  for i = 0, count - 1 do
    local entity = entities[reckoner.key(shown[i].entity)]
    if entity then draw_entity(shown[i], entity) end
    sum_x, sum_y = sum_x + shown[i].state.position[0], sum_y + shown[i].state.position[1]
  end
  if count > 0 then  -- follow the middle of all
    centre_x, centre_y = centre_x + 0.05 * (sum_x / count - centre_x), centre_y + 0.05 * (sum_y / count - centre_y)
  end
  draw_overlay(count)
  if screenshot and now_s() >= screenshot_s + (count > 0 and 0 or 60) then
    local path = screenshot
    screenshot = nil
    love.graphics.captureScreenshot(function(image)
      local file = assert(io.open(path, "wb"))
      file:write(image:encode("png"):getString())
      file:close()
      print(("shown %d entities"):format(count))
      love.event.quit(count > 0 and 0 or 1)
    end)
  end
end

function love.wheelmoved(_, y) zoom = math.max(0.5, math.min(100, zoom * 1.15 ^ y)) end

function love.keypressed(key)
  if key == "escape" then love.event.quit() end
  if key == "t" then show_trails = not show_trails end
  if key == "d" then show_debug = not show_debug end
  if key == "p" then
    paused = not paused
    client:set_paused(paused and 1 or 0)
  elseif key == "m" then
    mode = mode % #modes + 1
    client:set_playout(reckoner.struct("playout", { mode = modes[mode].mode, delay_s = modes[mode].delay_s }))
  end
end

function love.quit()
  if client then client:close() end
end
