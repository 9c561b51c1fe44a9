// SPDX-License-Identifier: MIT
#include "scenario/trace/write_recording.hpp"

#include "scenario/trace/csv.hpp"
#include "scenario/trace/output_file.hpp"

#include <charconv>

namespace reckoner::scenario {
namespace {

void append_number(std::string& text, double value) {
  char digits[32];  // the longest double in its shortest form has 24 characters
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  (text += ',').append(digits, end);
}

std::string rows_of(const Recording::Entity& entity, bool with_orientation) {
  const std::string id = csv_field(entity.id);
  std::string rows;
  for (const TrackSample& sample : entity.samples) {
    rows += id;
    for (const double value : {sample.time_s, sample.position.x, sample.position.y, sample.position.z})
      append_number(rows, value);
    if (with_orientation) {
      const glm::dquat& q = sample.orientation;
      for (const double value : {q.w, q.x, q.y, q.z})
        append_number(rows, value);
    }
    rows += '\n';
  }
  return rows;
}

}  // namespace

std::optional<Error> write_recording(const std::string& path, const Recording& recording) {
  auto file = OutputFile::create(path);
  if (!file) return Error{path + ": cannot be written: " + file.error()};
  file->write(recording.has_orientation ? "id,t,x,y,z,qw,qx,qy,qz\n" : "id,t,x,y,z\n");
  for (const Recording::Entity& entity : recording.entities)
    file->write(rows_of(entity, recording.has_orientation));
  if (!file->close()) return Error{path + ": cannot be written: " + file->why()};
  return std::nullopt;
}

}  // namespace reckoner::scenario
