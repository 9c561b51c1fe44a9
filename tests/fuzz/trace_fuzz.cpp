// SPDX-License-Identifier: MIT
// The files that programs read: traces and pose CSVs.
#include "scenario/trace/pose_csv.hpp"
#include "scenario/trace/trace.hpp"
#include "target.hpp"

#include <string>
#include <string_view>

namespace reckoner::fuzz {
namespace {

bool finite(const Pose& pose) {
  return std::isfinite(pose.position.x) && std::isfinite(pose.position.y) && std::isfinite(pose.position.z) &&
         std::isfinite(pose.orientation.w);
}

void read_trace(const std::string& text, const scenario::TraceOptions& options) {
  const auto source = scenario::parse_trace(text, "fuzz", options);
  if (!source) return check(!source.error().empty(), "an error says something");
  check((*source)->size() > 0, "a trace has an entity");
  for (std::size_t i = 0; i < (*source)->size(); ++i) {
    const scenario::SourceEntity& entity = (*source)->entity(i);
    for (const double share : {0.0, 0.3, 0.77, 1.0}) {
      const double time_s = entity.first_s + share * (entity.last_s - entity.first_s);
      check(finite((*source)->pose(i, time_s)), "a recorded pose is one");
    }
  }
}

void read_poses(const std::string& text) {
  const auto rows = scenario::parse_pose_csv(text, "fuzz");
  if (!rows) return check(!rows.error().empty(), "an error says something");
  for (const scenario::PoseRow& row : *rows)
    check(finite(row.pose) && std::isfinite(row.frame_time_s), "a row is a pose");
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  const std::string text(reinterpret_cast<const char*>(rest.data()), rest.size());
  switch (std::to_integer<unsigned>(input.front()) % 4) {
    case 0:
      return read_trace(text, {});
    case 1:
      return read_trace(text, {.entity = "busiest"});
    case 2:
      return read_trace(text, {.entity = "a", .start_s = 0.5, .seconds = 2.0});
    default:
      return read_poses(text);
  }
}

std::vector<Bytes> seeds() {
  const std::string_view traces[] = {
      "t,x,y,z\n0,1,2,3\n0.5,2,2,3\n1,4,2,3\n",
      "# a "
      "comment\nid,t,x,y,z,qw,qx,qy,qz\na,0,0,0,0,1,0,0,0\nb,0,5,5,5,1,0,0,0\na,1,1,0,0,0.7071,0,0,0.7071\n"
      "b,1,5,6,5,1,0,0,0\n",
      "id,t,x,y,z\r\n\"a\"\"x\",0,0,0,0\r\n\"a\"\"x\",1,1e3,-2.5,0\r\n",
      "t,x,y,z\n0,0,0,0\n1,1e12,0,0\n1.000001,-1e12,0,0\n",
  };
  const std::string_view poses[] = {
      "frame_time_s,id,x,y,z,qw,qx,qy,qz\n0,a,1,2,3,1,0,0,0\n",
      "frame_time_s,id,x,y,z,qw,qx,qy,qz,shown_time_s,monotonic_s,frame\n0.5,a,1,2,3,1,0,0,0,0.4,,ship\n",
  };
  std::vector<Bytes> out;
  for (const std::string_view text : traces) {
    for (const unsigned mode : {0u, 1u, 2u})
      out.push_back(marked(static_cast<std::byte>(mode), std::as_bytes(std::span(text))));
  }
  for (const std::string_view text : poses)
    out.push_back(marked(std::byte{3}, std::as_bytes(std::span(text))));
  return out;
}

}  // namespace reckoner::fuzz
