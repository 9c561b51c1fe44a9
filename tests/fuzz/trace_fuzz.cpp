// SPDX-License-Identifier: MIT
// The files that programs read: traces and pose CSVs.
#include "scenario/trace/pose_csv.hpp"
#include "scenario/trace/trace.hpp"
#include "target.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

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

// The first line names the columns and the second the units.
void read_columns(const std::string& text) {
  const std::size_t first = std::min(text.find('\n'), text.size());
  const std::size_t second = std::min(text.find('\n', first + 1), text.size());
  scenario::TableOptions table;
  table.columns = text.substr(0, first);
  if (first < text.size()) table.units = text.substr(first + 1, second - first - 1);
  table.project = true;
  read_trace(second < text.size() ? text.substr(second + 1) : std::string{}, {.table = table});
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
  switch (std::to_integer<unsigned>(input.front()) % 8) {
    case 0:
      return read_trace(text, {});
    case 1:
      return read_trace(text, {.entity = "busiest"});
    case 2:
      return read_trace(text, {.entity = "a", .start_s = 0.5, .seconds = 2.0});
    case 4:
      return read_trace(text, {.table = {.project = true}});
    case 5:
      return read_trace(text, {.table = {.columns = "t=1,x=2,y=3", .units = "t=25fps,x=cm"},
                               .recentre = scenario::Recentre::always});
    case 6:
      return read_columns(text);
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
  // Tables of other tools, each with the mode that reads it.
  const std::pair<unsigned, std::string_view> tables[] = {
      {0, "\xef\xbb\xbfTime [ms];Pos X;Pos Y;Yaw\r\n0;1,5;2;90\r\n50;1,6;2;91\r\n100;1,7;2;92\r\n"},
      {0,
       ",Name,A,A,A,B,B,B\n,,Position,Position,Position,Position,Position,Position\nFrame,Time "
       "(Seconds),X,Y,Z,X,Y,Z\n0,0.0,1,2,3,4,5,6\n1,0.1,1,2,3,4,5,\n"},
      {0, "# timestamp tx ty tz qx qy qz qw\n1e9 1 2 3 0 0 0 1\n1000000000.1 1 2 3 0 0 0 1\n"},
      {0, "\"t\" \"x\" \"y\"\n\"1\" 0 1 2\n\"2\" 0.1 1 2\n\"3\" 0.2 NA 2\n"},
      {4, "time,lat,lon,elevation\n2024-05-01T12:00:00.5Z,48,11,500\n2024-05-01T12:00:01Z,48.00001,11,501\n"},
      {4, "date,time,lat,lon\n01.05.2024,12:00:00 PM,48,11\n01.05.2024,12:00:01 PM,48,11.1\n"},
      {5, "1\t100\t200\n2\t110\t200\n3\t120\t200\n"},
      {6, "t=1,x=Z,y=4,yaw=2\nt=us,yaw=deg\na|b|Z|d\n1|2|3|4\n2000|3|4|5\n"},
      {6, "t=row,lat=1,lon=2\nt=25fps\n48.0,11.0,3\n48.1,11.0,3\n"},
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
  for (const auto& [mode, text] : tables)
    out.push_back(marked(static_cast<std::byte>(mode), std::as_bytes(std::span(text))));
  out.push_back(marked(std::byte{0}, std::as_bytes(std::span(std::string_view("\xff\xfet\0,\0x\0,\0y\0\n\0"
                                                                              "0\0,\0"
                                                                              "1\0,\0"
                                                                              "2\0\n\0",
                                                                              26)))));
  for (const std::string_view text : poses)
    out.push_back(marked(std::byte{3}, std::as_bytes(std::span(text))));
  return out;
}

}  // namespace reckoner::fuzz
