// SPDX-License-Identifier: MIT
// Step 5: the window's game. The steps after this one use it unchanged.
#pragma once

#include "game.hpp"
#include "things.hpp"
#include "window.hpp"

#include <array>
#include <variant>

#include <reckoner/client/client.hpp>

struct ClientGame {
  reckoner::Client& client;
  reckoner::EntityId mine{};
  reckoner::State me{};
  bool begun = false;
  int pokes_heard = 0;
  double red_until_s = 0.0;

  // One picture: everything between the client's update() and what is drawn.
  void play(Window& window) {
    // snip: send
    if (window.tapped(' ')) (void)client.send(std::array{kPoke}, reckoner::Delivery::reliable);
    while (const auto message = client.poll_message()) {
      if (message->payload[0] != kPoked) continue;
      ++pokes_heard;
      red_until_s = window.now_s() + 0.3;
    }
    // snip: end
    while (const auto event = client.poll_event()) {
      if (event->kind == reckoner::ClientEvent::Kind::prediction_began) mine = event->entity;
    }
    if (const auto correction = client.poll_correction()) {
      for (const reckoner::CorrectedEntity& entity : correction->entities)
        me = entity.state;
      for (const reckoner::PredictionStep& tick : correction->steps)
        predict(tick);
      begun = true;
    }
    const std::array input{keys_of(window.arrows())};
    while (const auto tick = client.next_step(input)) {
      if (begun) predict(*tick);
    }
    for (const reckoner::ShownEntity& entity : client.shown())
      draw(window, entity);
  }

  void predict(const reckoner::PredictionStep& tick) {
    step(me, tick.input);
    (void)client.predict(mine, tick.tick, me);
  }

  // snip: draw
  void draw(Window& window, const reckoner::ShownEntity& entity) const {
    const bool hurt = entity.id == mine && window.now_s() < red_until_s;
    window.disc(entity.shown.position, 0.8, hurt ? kRed : entity.id == mine ? kGreen : kOrange);
    const reckoner::FieldValue* pokes = client.field(entity.id, kPokes);
    if (pokes == nullptr) return;
    for (std::int64_t i = 0; i < std::get<std::int64_t>(*pokes); ++i)  // one dot for each poke
      window.disc(entity.shown.position + glm::dvec3{0.3 * static_cast<double>(i) - 1.2, 1.2, 0.0}, 0.12,
                  kGrey);
  }
  // snip: end
};
