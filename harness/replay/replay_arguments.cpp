// SPDX-License-Identifier: MIT
#include "harness/replay/replay_arguments.hpp"

#include "net/src/config/archetype_settings.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace reckoner::harness {
namespace {

#ifdef _WIN32
constexpr char kSeparators[] = "/\\";
#else
constexpr char kSeparators[] = "/";
#endif

}  // namespace

std::string name_of(const program::SourceOptions& source) {
  if (source.trace.empty()) return source.scenario;
  const std::string file = source.trace.substr(source.trace.find_last_of(kSeparators) + 1);
  const std::size_t dot = file.rfind('.');
  return dot == 0 ? file : file.substr(0, dot);
}

std::string LinkArguments::name() const {
  if (!network.empty()) return changes.empty() && script.empty() ? network : network + " (changed)";
  return changes.empty() && script.empty() ? "perfect" : "custom";
}

std::string network_names() {
  std::string names;
  for (const NamedNetwork& known : named_networks()) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return names;
}

Result<LinkPair> links_of(const LinkArguments& arguments) {
  LinkPair links;
  if (!arguments.network.empty()) {
    const auto named = find_network(arguments.network);
    if (!named) {
      return Error{"unknown network " + arguments.network + "; known networks: " + network_names()};
    }
    links = {*named, *named};
  }
  // Options for one direction override options for both, whatever their order is.
  for (const bool one_way : {false, true}) {
    for (const LinkArguments::Change& change : arguments.changes) {
      if (one_way != (change.up != change.down)) continue;
      for (LinkOptions* side : {change.up ? &links.up : nullptr, change.down ? &links.down : nullptr}) {
        if (!side) continue;
        if (const auto wrong = set_option(*side, change.option, change.value)) return *wrong;
      }
    }
  }
  for (const LinkOptions& side : {links.up, links.down}) {
    if (const auto wrong = check(side)) return *wrong;
  }
  return links;
}

Result<LinkScript> script_of(const LinkArguments& arguments) {
  if (arguments.script.empty()) return LinkScript{};
  return LinkScript::load(arguments.script);
}

Result<ReplayOptions> replay_options(const RunArguments& run, const program::SourceOptions& source,
                                     const LinkArguments& link) {
  ReplayOptions options = run.options;
  if (run.transport == "udp") {
    options.transport = ReplayTransport::udp;
  } else if (run.transport == "enet") {
    options.transport = ReplayTransport::enet;
  } else if (run.transport == "sim") {
    options.transport = ReplayTransport::sim;
  } else {
    return Error{"--transport " + run.transport + ": expected sim, udp or enet"};
  }
  options.playout.blend_curve = run.blend.settings().curve;
  options.playout.blend_s = run.blend.settings().duration_s;
  if (const auto wrong = program::parse_mode(run.mode, options.playout)) return *wrong;
  if (run.switch_to.size() != run.switch_at.size()) return Error{"each --switch-to needs its --switch-at"};
  for (std::size_t i = 0; i < run.switch_to.size(); ++i) {
    PlayoutSwitch& change = options.switches.emplace_back(PlayoutSwitch{run.switch_at[i], options.playout});
    if (const auto wrong = program::parse_mode(run.switch_to[i], change.to)) return *wrong;
  }
  std::ranges::stable_sort(options.switches, {}, &PlayoutSwitch::at_s);
  auto links = links_of(link);
  if (!links) return Error{links.error()};
  auto script = script_of(link);
  if (!script) return Error{script.error()};
  if (!run.client_clock.empty()) {
    auto clock = ClientClock::parse(run.client_clock);
    if (!clock) return Error{"--client-clock " + clock.error()};
    options.client_clock = std::move(*clock);
  }
  options.links = *links;
  options.link_script = std::move(*script);
  options.seconds = source.seconds;
  // A trace was cut when it was read. A scenario is endless.
  options.start_s = source.trace.empty() ? source.start_s : 0.0;
  std::string owner = run.owner_network;
  if (owner.empty() && source.scenario == "owned") owner = "wifi";
  if (!owner.empty()) {
    const auto named = find_network(owner);
    if (!named) return Error{"unknown network " + owner + "; known networks: " + network_names()};
    options.owner_links = LinkPair{*named, *named};
  }
  options.owner_policy = run.owner_policy == "accept"   ? OwnerPolicy::accept
                         : run.owner_policy == "refuse" ? OwnerPolicy::refuse
                                                        : OwnerPolicy::correct;
  if (source.scenario == "duel" && options.shots_per_second <= 0.0) options.shots_per_second = 5.0;
  // Between two samples, a recording may be twice as fast as their difference suggests.
  options.max_speed_mps = std::min(std::max(options.max_speed_mps, 2.0 * source.teleport_mps),
                                   find_setting(kArchetypeSettings, "max_speed_mps").most);
  return options;
}

}  // namespace reckoner::harness
