-- SPDX-License-Identifier: MIT
function love.conf(t)
  t.identity = "reckoner-watch"
  t.window.title = "Reckoner"
  t.window.width, t.window.height = 960, 640
  t.modules.audio, t.modules.joystick, t.modules.physics, t.modules.sound = false, false, false, false
end
