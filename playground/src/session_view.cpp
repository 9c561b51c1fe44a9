// SPDX-License-Identifier: MIT
#include "playground/src/session_view.hpp"

#include "harness/explain/collect_facts.hpp"
#include "harness/explain/explain_json.hpp"
#include "playground/src/recorded_run.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/sessions/session_calls.hpp"
#include "programs/common/sessions/session_transports.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>

namespace reckoner::playground {
namespace {

constexpr float kNotShown = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kMaxPictureBytes = 48u << 20;
constexpr double kLongestS = 3600.0;  // no session is drawn for longer

using PoseNumbers = std::array<float, kPoseFloats>;

// What a client showed of one entity in one picture.
struct Shown {
  std::uint32_t entity = 0;
  float blend_m = 0.0f;
  PoseNumbers shown{};
  PoseNumbers motion{};
};
constexpr std::size_t kMostShown = (128u << 20) / sizeof(Shown);

PoseNumbers numbers(const State& state, const glm::dvec3& origin) {
  const glm::dvec3 at = state.position - origin;
  const glm::quat& turn = state.orientation;
  return {static_cast<float>(at.x),
          static_cast<float>(at.y),
          static_cast<float>(at.z),
          turn.w,
          turn.x,
          turn.y,
          turn.z};
}

// Gathers the pictures of a replay at an even rate: each has what was drawn last.
class Pictures {
 public:
  explicit Pictures(SessionView& view) : view_(view) {}

  void add(Client& client, double local_s) {
    const auto server_s = client.server_time_s();
    if (!server_s) return;
    const double offset_s = *server_s - local_s;
    if (!first_offset_s_) first_offset_s_ = offset_s;
    const auto shown = client.shown();
    if (view_.ids.empty() && !shown.empty()) view_.origin = shown.front().shown.position;
    std::vector<Shown> now;
    now.reserve(shown.size());
    for (const ShownEntity& entity : shown) {
      const auto debug = client.debug(entity.id);
      const State& motion = debug ? debug->motion : entity.shown;
      now.push_back({index_of(entity),
                     static_cast<float>(glm::distance(entity.shown.position, motion.position)),
                     numbers(entity.shown, view_.origin), numbers(motion, view_.origin)});
    }
    const double at_s = local_s - view_.facts.first_local_s;
    drawn_until_ = std::max(0.0, std::min(at_s, kLongestS) * SessionView::kPictureRateHz);
    last_ = {std::move(now), static_cast<float>(offset_s - *first_offset_s_),
             static_cast<float>(client.stats().delay_s)};
    while (static_cast<double>(pictures_.size()) <= drawn_until_ && keep_last()) {
    }
  }

  // Writes the pictures into the view, as many as fit.
  void finish() {
    // The even rate rarely meets the last picture. The page reaches it by one picture more.
    if (!pictures_.empty() && static_cast<double>(pictures_.size() - 1) < drawn_until_) (void)keep_last();
    const std::size_t entities = view_.ids.size();
    const std::size_t row_bytes = std::max<std::size_t>(1, entities) * kPoseFloats * sizeof(float);
    view_.pictures = std::min(pictures_.size(), std::max<std::size_t>(1, kMaxPictureBytes / row_bytes));
    view_.cut = view_.cut || view_.pictures < pictures_.size();
    view_.clock.resize(view_.pictures * SessionView::kClockNumbers);
    view_.shown.assign(view_.pictures * entities * kPoseFloats, kNotShown);
    view_.motion.assign(view_.pictures * entities * kPoseFloats, kNotShown);
    view_.blend.assign(view_.pictures * entities, kNotShown);
    for (std::size_t picture = 0; picture < view_.pictures; ++picture) {
      for (const Shown& one : pictures_[picture]) {
        const std::size_t at = picture * entities + one.entity;
        std::ranges::copy(one.shown, view_.shown.begin() + static_cast<std::ptrdiff_t>(at * kPoseFloats));
        std::ranges::copy(one.motion, view_.motion.begin() + static_cast<std::ptrdiff_t>(at * kPoseFloats));
        view_.blend[at] = one.blend_m;
      }
    }
  }

 private:
  // What a picture drew, and its numbers of the clock.
  struct Drawn {
    std::vector<Shown> entities;
    float clock_s = 0.0f;
    float delay_s = 0.0f;
  };

  // Adds what was drawn last as the next picture. False: the view is full.
  bool keep_last() {
    if (view_.cut || kept_ + last_.entities.size() > kMostShown) {
      view_.cut = true;
      return false;
    }
    kept_ += last_.entities.size();
    pictures_.push_back(last_.entities);
    view_.clock.push_back(last_.clock_s);
    view_.clock.push_back(last_.delay_s);
    return true;
  }

  std::uint32_t index_of(const ShownEntity& entity) {
    const auto [found, is_new] = index_.try_emplace(entity.id, static_cast<std::uint32_t>(view_.ids.size()));
    if (is_new) {
      const std::string& name = entity.info->name;
      view_.ids.push_back(entity.id);
      view_.names.push_back(!name.empty() ? name : "entity " + std::to_string(entity.id.index1));
    }
    return found->second;
  }

  SessionView& view_;
  std::map<EntityId, std::uint32_t> index_;
  std::vector<std::vector<Shown>> pictures_;
  Drawn last_;
  double drawn_until_ = 0.0;  // time of the last picture, pictures
  std::optional<double> first_offset_s_;
  std::size_t kept_ = 0;
};

void play(program::SessionReader& reader, SessionView& view) {
  ClientConfig config = program::config_of(reader.settings());
  config.archetypes = program::archetypes();
  program::PlayedTransport transport{reader};
  auto client = Client::create(std::move(config), transport);
  if (!client) return;  // collect_facts() has reported it
  Pictures pictures(view);
  double local_s = 0.0;  // time of the last update()
  while (const auto call = transport.next_call()) {
    if (const auto* service = std::get_if<program::ServiceRecord>(&*call)) local_s = service->local_s;
    if (std::holds_alternative<program::FrameRecord>(*call)) pictures.add(*client, local_s);
    (void)program::repeat_call(*client, *call);
    while (client->poll_event()) {
    }
  }
  pictures.finish();
}

// The datagrams by sequence. Lost ones lie between their neighbours.
nlohmann::ordered_json datagrams_json(const harness::SessionFacts& facts) {
  std::vector<const harness::DatagramFact*> ordered;
  for (const harness::DatagramFact& datagram : facts.datagrams)
    ordered.push_back(&datagram);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* a, const auto* b) { return a->sequence < b->sequence; });
  nlohmann::ordered_json arrived = nlohmann::ordered_json::array();
  nlohmann::ordered_json lost = nlohmann::ordered_json::array();
  constexpr std::int64_t kMostInARow = 1000;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const harness::DatagramFact& here = *ordered[i];
    const double sent_s = here.local_s - (here.now_s - here.sent_s) - facts.first_local_s;
    arrived.push_back({sent_s, here.local_s - facts.first_local_s});
    if (i + 1 == ordered.size()) break;
    const harness::DatagramFact& next = *ordered[i + 1];
    const double next_sent_s = next.local_s - (next.now_s - next.sent_s) - facts.first_local_s;
    const std::int64_t missing = std::min(next.sequence - here.sequence - 1, kMostInARow);
    for (std::int64_t k = 1; k <= missing; ++k)
      lost.push_back(sent_s +
                     (next_sent_s - sent_s) * static_cast<double>(k) / static_cast<double>(missing + 1));
  }
  return {{"arrived", std::move(arrived)}, {"lost", std::move(lost)}};
}

}  // namespace

Result<SessionView> view_session(std::vector<std::byte> recording, const std::string& name,
                                 std::string_view decisions, const std::string& decisions_name,
                                 std::size_t worst) {
  std::optional<harness::ServerDecisions> known;
  if (!decisions.empty()) {
    auto read = harness::parse_decisions(decisions, decisions_name);
    if (!read) return Error{read.error()};
    known = std::move(*read);
  }
  auto copy = recording;
  auto reader = program::SessionReader::read(std::move(copy), name);
  if (!reader) return Error{reader.error()};
  auto facts = harness::collect_facts(*reader, {program::archetypes(), {}});
  if (!facts) return Error{facts.error()};
  SessionView view;
  view.facts = std::move(*facts);
  view.facts.decisions = std::move(known);
  view.steps = harness::explain(view.facts, {.worst = worst});
  view.corrections = harness::explain_corrections(view.facts, {});
  auto again = program::SessionReader::read(std::move(recording), name);
  if (!again) return Error{again.error()};
  play(*again, view);
  return view;
}

std::string session_json(const SessionView& view) {
  nlohmann::ordered_json json{{"frame_rate_hz", SessionView::kPictureRateHz},
                              {"frames", view.pictures},
                              {"cut", view.cut},
                              {"names", view.names},
                              {"explained", harness::explain_json(view.facts, view.steps, view.corrections)},
                              {"datagrams", datagrams_json(view.facts)}};
  json["entities"] = nlohmann::ordered_json::array();
  for (const EntityId id : view.ids) {
    nlohmann::ordered_json entity{
        {"entity", id.index1}, {"generation", id.generation}, {"motions", nlohmann::ordered_json::array()}};
    const auto found = std::find_if(view.facts.entities.begin(), view.facts.entities.end(),
                                    [&](const harness::EntityFacts& other) { return other.id == id; });
    if (found != view.facts.entities.end()) {
      for (const harness::MotionFact& motion : found->motions) {
        if (motion.applied)
          entity["motions"].push_back({motion.local_s - view.facts.first_local_s, motion.step_m});
      }
    }
    json["entities"].push_back(std::move(entity));
  }
  json["clock_steps"] = nlohmann::ordered_json::array();
  for (const harness::ClockFact& step : view.facts.clock_steps)
    json["clock_steps"].push_back({step.local_s - view.facts.first_local_s, step.by_s});
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace reckoner::playground
