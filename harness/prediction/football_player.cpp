// SPDX-License-Identifier: MIT
#include "harness/prediction/football_player.hpp"

#include "reckoning/src/blend/interpolate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <glm/geometric.hpp>

namespace reckoner::harness::football {
namespace {

ClientConfig client_config(const FootballOptions& options) {
  ClientConfig config;
  config.archetypes = football_archetypes(options);
  config.input_delay_ticks = options.input_delay_ticks;
  config.inputs_per_datagram = options.inputs_per_datagram;
  config.playout.mode = options.mode;
  const bool is_ahead = options.approach == Approach::prediction && options.others_at != OthersAt::present;
  if (is_ahead && options.mode == PlayoutMode::present) config.playout.mode = PlayoutMode::ahead;
  return config;
}

}  // namespace

FootballPlayer::FootballPlayer(const FootballOptions& options, std::size_t car, Transport& transport,
                               const FootballServer& server)
    : options_(options),
      car_(car),
      server_(server),
      client_(std::move(*Client::create(client_config(options), transport))),
      bot_(car, options.seed) {
  world_.has_contacts = options.has_contacts;
  world_.kick_off();
  for (Stepped& stepped : stepped_) {
    for (const double factor : {0.0, 0.0, options.smoothing, kSlowSmoothing})
      stepped.displays.emplace_back(factor);
  }
}

void FootballPlayer::picture(double time_s) {
  ++pictures_;
  client_.update(local_s(time_s));
  handle_events();
  if (client_.status() != ClientStatus::joined) return;
  const std::array hello{kHello, static_cast<std::byte>(car_)};
  if (!greeted_) greeted_ = static_cast<bool>(client_.send(hello, Delivery::reliable));
  press(bot_.keys(world_, time_s));
  if (options_.approach == Approach::prediction) predict();
  if (options_.approach == Approach::ownership) own();
  if (options_.approach == Approach::none) send_keys();
  show(client_.shown(), time_s);
  picture_s_ = time_s;
}

void FootballPlayer::handle_events() {
  while (const auto event = client_.poll_event()) {
    using Kind = ClientEvent::Kind;
    const bool is_own = event->entity == server_.id(car_);
    if (event->kind == Kind::prediction_began || event->kind == Kind::prediction_ended)
      stepped_[is_own ? kOwn : kOwnBall].is_stepped = event->kind == Kind::prediction_began;
    if (!is_own) continue;
    if (event->kind == Kind::given) stepped_[kOwn].is_stepped = true;
    if (event->kind == Kind::revoked) stepped_[kOwn].is_stepped = false;
    if (event->kind == Kind::given || event->kind == Kind::corrected) {
      const double server_s = client_.server_time_s().value_or(0.0);
      world_.bodies[car_].follow(*client_.owned(event->entity));
      stepped_[kOwn].path.clear();
      stepped_[kOwn].jumps = true;
      next_own_ = static_cast<Tick>(std::floor(server_s * options_.tick_rate_hz)) + 1;
      keep(next_own_ - 1);
    }
  }
}

void FootballPlayer::press(const Keys& keys) {
  if (keys == keys_) return;
  keys_ = keys;
  ++key_number_;
  pressed_.push_back({pictures_, 0, key_number_});
}

void FootballPlayer::predict() {
  if (steps_others()) begin_others();
  if (const auto correction = client_.poll_correction()) {
    for (const CorrectedEntity& entity : correction->entities) {
      const bool is_own = entity.id == server_.id(car_);
      Body& body = world_.bodies[is_own ? car_ : kBall];
      body.restore(entity.state, entity.game_state);
      Stepped& stepped = stepped_[is_own ? kOwn : kOwnBall];
      stepped.is_corrected = true;
      stepped.jumps |= correction->reason == CorrectionReason::teleported;
    }
    touched_.fill(0);  // the replay finds the contacts again
    keep(correction->tick);
    for (const PredictionStep& one : correction->steps)
      step(one.tick, one.input, false);
    record_.corrections.push_back({time_of(correction->tick), drawn_at_s_[0], correction->reason});
    corrected_s_ = picture_s_;
  }
  const auto bytes = keys_.bytes();
  while (const auto next = client_.next_step(bytes)) {
    for (Pressed& pressed : pressed_) {
      if (pressed.tick == 0) pressed.tick = next->tick + options_.input_delay_ticks;
    }
    step(next->tick, next->input, true);
  }
}

void FootballPlayer::step(Tick tick, std::span<const std::byte> input, bool is_first) {
  Inputs inputs;
  if (steps_others()) {
    inputs = others_keys_;
    place_others(tick - 1);
  } else {
    see_others(time_of(tick - 1));
  }
  inputs[car_] = Keys::from(input);
  const Contacts contacts = world_.step(inputs, 1.0 / options_.tick_rate_hz);
  if (steps_others()) keep_others(tick);
  note_touched(contacts, tick);
  keep(tick);
  if (options_.approach == Approach::prediction) {
    const Body& own = world_.bodies[car_];
    const Body& ball = world_.bodies[kBall];
    if (stepped_[kOwn].is_stepped) (void)client_.predict(server_.id(car_), tick, own.state(), own.bytes());
    if (stepped_[kOwnBall].is_stepped)
      (void)client_.predict(server_.id(kBall), tick, ball.state(), ball.bytes());
  }
  if (!is_first) return;
  const std::uint8_t with = contacts.with[car_];
  for (std::size_t other = 0; other < kBodies; ++other) {
    const bool begins = (with >> other & 1u) != 0 && (touching_ >> other & 1u) == 0;
    if (begins && stepped_[kOwn].is_stepped) record_.contacts.push_back({tick, other});
  }
  touching_ = with;
}

void FootballPlayer::keep(Tick tick) {
  for (std::size_t i = 0; i < kPredictable; ++i) {
    auto& path = stepped_[i].path;
    if (path.size() <= tick) path.resize(tick + 1);
    path[tick] = world_.bodies[i == kOwn ? car_ : kBall].state();
  }
}

// Bodies that others move and that the predicted bodies touch in `tick`.
void FootballPlayer::note_touched(const Contacts& contacts, Tick tick) {
  const bool has_ball = stepped_[kOwnBall].is_stepped;
  for (std::size_t i = 0; i < kBodies; ++i) {
    const bool by_own = (contacts.with[car_] >> i & 1u) != 0, by_ball = (contacts.with[kBall] >> i & 1u) != 0;
    if (i != car_ && (by_own || (has_ball && by_ball))) touched_[i] = tick;
  }
}

// The server's time of what arrives now.
double FootballPlayer::arriving_s() const {
  return client_.server_time_s().value_or(0.0) - 0.5 * client_.stats().round_trip_s;
}

// The other bodies begin where the client knows them. From there, this game steps them to the newest tick of
// its own car, with the keys that their players held last: as the server does, if no player changes them.
void FootballPlayer::begin_others() {
  // Not later than what has arrived, and not much earlier: velocities of motions are means over the time
  // until the next one, so that a short way to step is more exact than a long one.
  constexpr double kUpdateS = 0.02;
  known_ = static_cast<Tick>(std::max(0.0, std::floor((arriving_s() - kUpdateS) * options_.tick_rate_hz)));
  for (std::size_t car = 0; car < kCars; ++car) {
    if (car == car_) continue;
    std::array<const FieldValue*, kKeysFields> fields{};
    for (std::size_t i = 0; i < kKeysFields; ++i)
      fields[i] = client_.field(server_.id(car), i);
    others_keys_[car] = keys_of(fields);
  }
  others_.clear();
  follow_others(known_);
  others_.push_back(world_);
  World world = world_;
  for (Tick tick = known_ + 1; tick < stepped_[kOwn].path.size(); ++tick) {
    for (std::size_t i = 0; i < kPredictable; ++i) {
      const Stepped& own = stepped_[i];
      if (tick > own.path.size() || !own.path[tick - 1] || !own.is_stepped) continue;
      world.bodies[i == kOwn ? car_ : kBall].follow(*own.path[tick - 1]);
    }
    (void)world.step(others_keys_, 1.0 / options_.tick_rate_hz);
    others_.push_back(world);
  }
}

// Puts the other bodies where the client knows them in `tick`.
void FootballPlayer::follow_others(Tick tick) {
  for (std::size_t i = 0; i < kBodies; ++i) {
    if (!is_other(i)) continue;
    const auto state = client_.motion_at(server_.id(i), time_of(tick));
    if (!state) continue;
    world_.bodies[i].follow(*state);
    // Nobody else knows these. A player who presses the key has some boost, and may jump.
    world_.bodies[i].boost = 100.0;
    world_.bodies[i].jump_wait_s = 0.0;
  }
}

// Puts the other bodies where they are in `tick`, which is not after the newest that keep_others() got.
void FootballPlayer::place_others(Tick tick) {
  if (tick <= known_) return follow_others(tick);
  const World& then = others_[std::min<std::size_t>(tick - known_, others_.size() - 1)];
  for (std::size_t i = 0; i < kBodies; ++i) {
    if (is_other(i)) world_.bodies[i] = then.bodies[i];
  }
}

void FootballPlayer::keep_others(Tick tick) {
  if (tick < known_) return;
  others_.resize(std::max<std::size_t>(others_.size(), tick - known_ + 1), world_);
  others_[tick - known_] = world_;
}

// Puts bodies that this game does not step where the client knows them, for a step that begins at `time_s`.
// What the client knows does not contain a contact that the server has not answered yet: a touched body would
// drive on like a wall. Until then, this game moves it.
void FootballPlayer::see_others(double time_s) {
  const bool is_ahead = options_.others_at == OthersAt::ahead && options_.approach == Approach::prediction;
  const double lead_s = options_.approach == Approach::prediction ? client_.stats().input_lead_s : 0.0;
  const double at_s = is_ahead ? time_s : time_s - lead_s;
  constexpr double kAnswerS = 0.05;  // the server's updates and their jitter
  const double answered_s = arriving_s() - kAnswerS;
  for (std::size_t i = 0; i < kBodies; ++i) {
    if (!is_other(i)) continue;
    if (touched_[i] != 0 && time_of(touched_[i]) > answered_s) continue;
    if (const auto state = client_.motion_at(server_.id(i), at_s)) world_.bodies[i].follow(*state);
  }
}

// The client decides: its game runs at the server's present.
void FootballPlayer::own() {
  if (!stepped_[kOwn].is_stepped) return;
  const double server_s = *client_.server_time_s();
  const auto bytes = keys_.bytes();
  while (time_of(next_own_ - 1) <= server_s) {
    for (Pressed& pressed : pressed_) {
      if (pressed.tick == 0) pressed.tick = next_own_;
    }
    step(next_own_, bytes, true);
    ++next_own_;
  }
  if (const auto state = path_at(stepped_[kOwn], server_s)) (void)client_.move(server_.id(car_), *state);
}

void FootballPlayer::send_keys() {
  std::array<std::byte, 3 + Keys::kBytes> message{kKeyMessage, static_cast<std::byte>(key_number_ & 0xff),
                                                  static_cast<std::byte>(key_number_ >> 8)};
  std::ranges::copy(keys_.bytes(), message.begin() + 3);
  (void)client_.send(message, Delivery::unreliable);
  client_.flush();
}

std::optional<State> FootballPlayer::path_at(const Stepped& body, double time_s) const {
  const double before = std::floor(time_s * options_.tick_rate_hz + 1e-9);
  if (before < 0.0) return std::nullopt;
  const auto tick = static_cast<std::size_t>(before);
  if (tick >= body.path.size() || !body.path[tick]) return std::nullopt;
  const Motion from{.state = *body.path[tick], .time_s = before / options_.tick_rate_hz};
  if (tick + 1 >= body.path.size() || !body.path[tick + 1]) return state_at(from, time_s);
  const Motion to{.state = *body.path[tick + 1], .time_s = (before + 1.0) / options_.tick_rate_hz};
  return interpolate(from, to, time_s);
}

// How each display draws a body that this game steps.
void FootballPlayer::draw(Stepped& body, const ShownEntity& entity, std::array<Drawn, kDisplays>& drawn) {
  const double at_s = entity.shown_time_s, picture_s = at_s - drawn_at_s_[0];
  const auto path = path_at(body, at_s);
  const auto last = path_at(body, drawn_at_s_[0]), earlier = path_at(body, drawn_at_s_[1]);
  if (!path || body.jumps || !last || !earlier || picture_s <= 0.0) {
    body.pictures = 0;
    body.jumps = false;
    for (ErrorDisplay& display : body.displays)
      display.reset();
  }
  if (!path) return;
  for (std::size_t i = 0; i < kDisplays; ++i) {
    ErrorDisplay& display = body.displays[i];
    const bool is_reckoner = i == static_cast<std::size_t>(Display::reckoner);
    if (body.is_corrected && body.pictures > 0) display.correct(body.shown[i][0], last->position);
    display.advance(picture_s);
    const glm::dvec3 position = is_reckoner ? entity.shown.position : path->position + display.offset();
    const glm::dvec3 velocity =
        is_reckoner ? glm::dvec3(entity.shown.velocity) : glm::dvec3(path->velocity) + display.velocity();
    Drawn& out = drawn[i];
    out.position = position;
    const glm::dvec3 offset = position - path->position;
    out.offset_m = glm::length(offset);
    if (body.pictures >= 2) {
      // Both pictures against the path as it is known now.
      const glm::dvec3 before = body.shown[i][0] - last->position;
      const glm::dvec3 rate =
          0.5 * (velocity - glm::dvec3(path->velocity) + body.velocity[i] - glm::dvec3(last->velocity));
      out.step_m = glm::length(offset - before - picture_s * rate);
      const glm::dvec3 second = offset - 2.0 * before + (body.shown[i][1] - earlier->position);
      out.acceleration_mps2 = glm::length(second) / (picture_s * picture_s);
    }
    body.shown[i] = {position, body.shown[i][0]};
    body.velocity[i] = velocity;
  }
  ++body.pictures;
  body.is_corrected = false;
}

void FootballPlayer::show(std::span<const ShownEntity> shown, double time_s) {
  Picture picture;
  picture.time_s = time_s;
  picture.lead_s = client_.stats().input_lead_s;
  picture.since_correction_s = time_s - corrected_s_;
  bool has_own = false, has_ball = false;
  double own_s = 0.0;
  for (const ShownEntity& entity : shown) {
    for (std::size_t i = 0; i < kBodies; ++i) {
      if (entity.id != server_.id(i)) continue;
      if (i == car_ || i == kBall) {
        auto& drawn = i == kBall ? picture.ball : picture.own;
        drawn[0].position = entity.shown.position;
        (i == kBall ? picture.ball_s : picture.own_s) = entity.shown_time_s;
        (i == kBall ? has_ball : has_own) = true;
        if (i == car_) own_s = entity.shown_time_s;
        Stepped& stepped = stepped_[i == kBall ? kOwnBall : kOwn];
        if (options_.approach == Approach::prediction && stepped.is_stepped) draw(stepped, entity, drawn);
      } else {
        picture.others[i] = entity.shown.position;
        picture.others_s = entity.shown_time_s;
      }
      // What the player sees, if this game does not step the body.
      const bool steps =
          (i == car_ && stepped_[kOwn].is_stepped) || (i == kBall && stepped_[kOwnBall].is_stepped);
      if (!steps && options_.approach == Approach::none) world_.bodies[i].follow(entity.shown);
    }
  }
  if (!has_own || !has_ball) return;
  drawn_at_s_ = {own_s, drawn_at_s_[0]};
  if (options_.approach != Approach::none && !stepped_[kOwn].is_stepped) return;
  note_response(own_s);
  record_.pictures.push_back(picture);
}

void FootballPlayer::note_response(double own_s) {
  const double tick_s = 1.0 / options_.tick_rate_hz;
  while (!pressed_.empty()) {
    Pressed& pressed = pressed_.front();
    double begins_s = 0.0;
    double known_s = own_s;
    if (options_.approach == Approach::none) {
      const auto used = server_.used(car_, pressed.number);
      if (!used) return;
      begins_s = time_of(*used);
      // What is shown is extrapolated: it shows the keys when a motion has arrived that they have changed.
      known_s = client_.debug(server_.id(car_))->motion_time_s + 1e-6;
      if (known_s < begins_s) return;
    } else {
      if (pressed.tick == 0) return;
      begins_s = time_of(pressed.tick) - tick_s;
      if (known_s <= begins_s) return;
    }
    // Keys that were pressed before the game began have waited for it.
    if (static_cast<double>(pressed.picture) > kWarmUpS * options_.frame_rate_hz)
      record_.response_frames.push_back(static_cast<double>(pictures_ - pressed.picture));
    pressed_.pop_front();
  }
}

}  // namespace reckoner::harness::football
