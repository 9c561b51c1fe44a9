// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <glm/vec3.hpp>

#include <reckoner/client/prediction.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

/// Properties of an entity that do not change.
struct EntityInfo {
  std::size_t archetype = 0;      ///< index of its archetype
  std::string name;               ///< name from the server's game, at most 64 bytes of UTF-8
  bool short_lived = false;       ///< a projectile or the like (Server::spawn_short_lived())
  std::vector<std::byte> data{};  ///< of a short-lived entity: bytes from the server's game
  std::optional<double> end_s{};  ///< of a short-lived entity: server time of its end, s, if it is known
};

/// An entity to be drawn in a picture.
struct ShownEntity {
  EntityId id;  ///< the entity
  /// Pose and derivatives in the world. Pose and velocity are continuous from picture to picture. The
  /// derivatives are those of what is drawn: they contain the blend. Client::motion_at() gives the motion
  /// without it.
  State shown;
  double shown_time_s = 0.0;  ///< the shown instant, s of server time
  double age_s = 0.0;         ///< present server time minus the time stamp of the motion in use, s
  /// The route on whose curve the pose lies; null if the entity moves freely or is being blended. Valid as
  /// long as the client's session.
  const Route* route = nullptr;
  EntityId frame{};  ///< the entity in whose frame it is; null: it is in the world frame
  State local{};     ///< the shown state relative to that frame. `route` is relative to the frame, too
  /// Name and archetype of the entity (Client::info()); never null in a result of Client::shown(). Valid
  /// until the next call of a non-const member of the client other than poll_event() and poll_message():
  /// a game may poll before it draws.
  const EntityInfo* info = nullptr;
};

/// The poses to be drawn in a picture, as arrays. An index means one entity in all arrays.
struct ShownPoses {
  std::span<const EntityId> ids;            ///< the entities, in no order, each once
  std::span<const glm::dvec3> positions;    ///< positions, m
  std::span<const glm::quat> orientations;  ///< unit quaternions
  double shown_time_s = 0.0;                ///< the shown instant, s of server time
};

/// What a client shows of an entity, and the motion behind it, for debug drawing and monitoring. Plain data;
/// Reckoner draws nothing. Both states are in the world, count from the client's origin, and are per second
/// of shown time.
struct ShownDebug {
  EntityId id;                 ///< the entity
  State shown;                 ///< the drawn state
  State motion;                ///< the state of the known motions at the same time, without the blend
  double shown_time_s = 0.0;   ///< the shown instant, s of server time
  double motion_time_s = 0.0;  ///< time stamp of the newest motion, s of server time
  double age_s = 0.0;          ///< present server time minus motion_time_s, s
  double blend_m = 0.0;        ///< distance between `shown` and `motion`, m
  double blend_rad = 0.0;      ///< angle between the orientations of `shown` and `motion`, rad
  double blend_left_s = 0.0;   ///< time until the blend ends, s; 0: there is no blend
  /// The archetype's threshold from the server, m. The shown error stays within it while the connection is
  /// faster than the motion changes, and the entity has the finest level of detail.
  double threshold_m = 0.0;
  double threshold_rad = 0.0;  ///< the archetype's threshold of the orientation, rad
  bool fading = false;         ///< true if its motion is no longer confirmed, so that it fades to rest
  bool owned = false;          ///< true if this client owns it
  EntityId frame{};            ///< the entity in whose frame it is; null: it is in the world frame
  /// Of an entity that this client's game predicts and has computed; nullopt for others. `motion` is then
  /// what the game has computed, without the error that fades.
  std::optional<PredictionDebug> prediction{};
};

}  // namespace reckoner
