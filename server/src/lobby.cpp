// SPDX-License-Identifier: MIT
#include "server/src/lobby.hpp"

#include "server/src/interest/interest.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace reckoner {

Lobby::Lobby(const ServerConfig& config, const ServerTestSwitches& switches, WelcomeMessage welcome,
             const ServerTime& time, Transport& transport, SessionTable& sessions, ServerWorld& world,
             GameMail& mail, ServerEvents& events, ServerLog& log)
    : config_(config),
      parts_(switches.parts),
      session_secret_(switches.session_secret),
      welcome_(std::move(welcome)),
      time_(time),
      transport_(transport),
      sessions_(sessions),
      world_(world),
      mail_(mail),
      events_(events),
      log_(log),
      closing_(transport, config.max_clients) {}

// Connections.

void Lobby::connected(PeerId peer, std::uint32_t version, double now_s) {
  if (shut_down_) return disconnect(peer, {EndReason::server_shutdown, 0});
  if (version != 0 && version != kProtocolVersion) return refuse_version(peer, version);
  waiting_.emplace(peer, now_s);
  log_.connected(peer);
}

void Lobby::disconnected(PeerId peer, std::uint32_t code) {
  waiting_.erase(peer);
  ended_.erase(peer);
  closing_.remove(peer);
  Session* session = sessions_.find(peer);
  if (session == nullptr) return;
  const EndReason reason = unpack_end_code(code).reason;
  if (reason == EndReason::none) return suspend(*session);
  close(*session, reason == EndReason::replaced ? "the same client has joined again" : "left");
}

void Lobby::refuse(PeerId peer, const EndCode& code, const std::string& why) {
  waiting_.erase(peer);
  events_.client_refused(peer, why);
  disconnect(peer, code);
}

void Lobby::refuse_version(PeerId peer, std::uint32_t version) {
  refuse(peer, {EndReason::version, kProtocolVersion},
         "protocol version mismatch: the client speaks version " + std::to_string(version) +
             ", this server version " + std::to_string(kProtocolVersion));
}

// The login of a connection. Refuses the connection and returns nullopt if the login was revoked.
std::optional<PeerLogin> Lobby::login_of(PeerId peer) {
  const PeerLogin login = transport_.login(peer);
  if (!login.is_revoked) return login;
  refuse(peer, {EndReason::kicked, 0});
  return std::nullopt;
}

void Lobby::expire(double now_s) {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const auto [peer, since_s] = *it++;
    if (now_s - since_s > config_.join_timeout_s) refuse(peer, {EndReason::join_timeout, 0});
  }
  close_stuck(now_s);
  while (const auto oldest = logins_.oldest_lost()) {
    Session& session = *sessions_.find(*oldest);
    if (now_s - session.resume().lost_s <= config_.resume_s) break;
    close(session);
  }
}

// Closes the sessions for which too many reliable messages wait.
void Lobby::close_stuck(double now_s) {
  constexpr double kEveryS = 1.0;
  if (now_s < next_check_s_) return;
  next_check_s_ = now_s + kEveryS;
  std::vector<ClientId> stuck;
  for (const auto& session : sessions_.all()) {
    if (session->is_stuck(now_s)) stuck.push_back(session->id());
  }
  for (const ClientId client : stuck) {
    Session& session = *sessions_.find(client);
    drop(session, {}, "too many reliable messages wait for it");
  }
}

void Lobby::drop(Session& session, const EndCode& code, std::string why) {
  if (session.peer()) disconnect(session.peer(), code);
  close(session, std::move(why));
}

void Lobby::shut_down() {
  shut_down_ = true;
  log_.closing(sessions_.size());
  for (const auto& session : sessions_.all())
    end_connection(*session, {EndReason::server_shutdown, 0});
  for (const auto& [peer, since_s] : waiting_)
    disconnect(peer, {EndReason::server_shutdown, 0});
  sessions_.clear();
  logins_.clear();
  waiting_.clear();
}

// Sessions.

void Lobby::join(PeerId peer, const JoinRequest& request) {
  if (!waiting_.contains(peer)) return;
  const auto login = login_of(peer);
  if (!login) return;
  if (request.version != kProtocolVersion) return refuse_version(peer, request.version);
  if (request.archetype_hash != archetype_hash(config_.archetypes))
    return refuse(peer, {EndReason::archetypes, 0});
  Session* const earlier = request.resume ? find(*request.resume) : nullptr;
  if (earlier != nullptr && earlier->can_resume_from(request.resume->received))
    return resume(*earlier, peer, request.resume->received, *login);
  if (earlier != nullptr) close(*earlier);
  replace_sessions(*login, {});
  if (sessions_.size() >= config_.max_clients) {
    if (const auto evicted = logins_.to_evict()) close(*sessions_.find(*evicted));
  }
  if (sessions_.size() >= config_.max_clients) return refuse(peer, {EndReason::full, 0});
  open(peer, request, *login);
}

void Lobby::open(PeerId peer, const JoinRequest& request, const PeerLogin& login) {
  waiting_.erase(peer);
  WelcomeMessage welcome = welcome_;
  welcome.client = {next_client_++};
  welcome.tick = time_.last_tick();
  Session& session = sessions_.add(welcome.client, peer, config_, parts_);
  session.set_ordered(transport_.is_ordered(peer));
  logins_.set(welcome.client, login);
  if (config_.resume_s > 0.0) session.enable_resume(session_key(session_secret_, welcome.client));
  welcome.key = session.resume().key;
  session.welcome(welcome);
  session.view().shows_past = request.shows_past;
  session.playout() = DeclaredPlayout{PlayoutMessage{request.shows_past, request.shows_past, request.blend}};
  if (config_.rewind_s > 0.0)
    session.seen().record(request.shows_past ? MotionPath::interpolate : MotionPath::predict, request.blend,
                          config_.rewind_s);
  for (std::uint32_t route = 1; route <= world_.routes().size(); ++route)
    session.send_route({{route}, world_.routes().find({route})->definition()});
  events_.client_joined(welcome.client, peer);
}

// The session that the client asks to resume, without a connection; null if it does not go on.
Session* Lobby::find(const ResumeRequest& request) {
  Session* session = sessions_.find(request.client);
  if (session == nullptr || !session->resume().key || session->resume().key != request.key) return nullptr;
  const PeerId before = session->peer();
  if (!before) return session;
  // The client noticed the loss of its connection before the server did.
  suspend(*session);
  disconnect(before, {});
  return sessions_.find(request.client);
}

void Lobby::resume(Session& session, PeerId peer, std::uint32_t received, const PeerLogin& login) {
  waiting_.erase(peer);
  logins_.set(session.id(), login);
  replace_sessions(login, session.id());
  sessions_.move(session, peer);
  session.set_ordered(transport_.is_ordered(peer));
  session.resume_from(received, config_, time_.present_s(), time_.last_tick());
  events_.client_back(session.id(), peer);
}

// The connection was lost. Keeps the session if the client can resume it. The entities of the client continue
// without an owner.
void Lobby::suspend(Session& session) {
  if (!session.can_resume() || shut_down_) return close(session);
  const PeerId peer = session.peer();
  world_.release_owned(session.id());
  sessions_.move(session, {});
  session.resume().lost_s = time_.present_s();
  logins_.lose(session.id());
  events_.client_lost(session.id(), peer);
}

void Lobby::close(Session& session, std::string why) {
  const ClientId id = session.id();
  mail_.deliver_last(session);
  events_.client_left(id, session.peer(), std::move(why));
  world_.release_owned(id);
  Interest::unsubscribe(session, world_.entities());
  logins_.remove(id);
  sessions_.remove(id);
}

void Lobby::disconnect(PeerId peer, const EndCode& code) {
  ended_.insert(peer);
  transport_.disconnect(peer, pack(code));
}

// Ends the connection of a session that is about to close, as soon as its client has the last messages.
void Lobby::end_connection(Session& session, const EndCode& code) {
  const PeerId peer = session.peer();
  if (!peer) return;
  if (!session.has_unsent()) return disconnect(peer, code);
  closing_.add(peer, pack(code), session.take_rest(time_.last_tick()), time_.present_s(),
               [this](PeerId ended) { ended_.insert(ended); });
}

bool Lobby::receive_closing(PeerId peer, const ClientDatagram& datagram, double now_s) {
  return closing_.receive(peer, datagram, now_s);
}

void Lobby::send_last(double now_s) {
  closing_.service(now_s, [this](PeerId ended) { ended_.insert(ended); });
}

// Closes the sessions that a client leaves behind by joining again instead of resuming. Without this, one
// login could fill the server with suspended sessions.
void Lobby::replace_sessions(const PeerLogin& login, ClientId newest) {
  for (const ClientId older : logins_.replaced_by(login, newest)) {
    Session& session = *sessions_.find(older);
    // The transport ends the older connection of a login. Its event may come later than the newer one joins.
    world_.release_owned(session.id());  // the messages about it are among the last
    end_connection(session, {EndReason::replaced, 0});
    close(session, "the same client has joined again");
  }
}

// Kicking.

CallResult Lobby::kick(ClientId client, std::string_view reason) {
  Session* const session = sessions_.find(client);
  if (session == nullptr) return CallError::unknown_client;
  if (reason.size() > kMaxKickReasonBytes) return CallError::reason_too_long;
  const PeerLogin login = logins_.find(client);
  transport_.revoke_login(login);
  kick_session(*session, reason);
  if (login.client_id) (void)kick_revoked(*login.client_id, reason);
  return {};
}

std::size_t Lobby::kick_player(std::uint64_t client_id, std::string_view reason) {
  if (reason.size() > kMaxKickReasonBytes) return 0;
  transport_.revoke_login({.client_id = client_id});
  return kick_revoked(client_id, reason);
}

// Closes the sessions of a player whose logins were revoked, and ends the connections that have not joined
// yet. Returns the number of the sessions.
std::size_t Lobby::kick_revoked(std::uint64_t client_id, std::string_view reason) {
  const std::vector<ClientId> kicked = logins_.of_player(client_id);
  for (const ClientId client : kicked)
    kick_session(*sessions_.find(client), reason);
  std::vector<PeerId> joining;
  for (const auto& [peer, since_s] : waiting_) {
    if (transport_.login(peer).is_revoked) joining.push_back(peer);
  }
  for (const PeerId peer : joining)
    refuse(peer, {EndReason::kicked, 0});
  return kicked.size();
}

void Lobby::kick_session(Session& session, std::string_view reason) {
  session.intake().drop_postponed();
  world_.release_owned(session.id());
  session.send_kick({std::string(reason)});
  end_connection(session, {EndReason::kicked, 0});
  close(session, reason.empty() ? std::string("kicked") : "kicked: " + std::string(reason));
}

}  // namespace reckoner
