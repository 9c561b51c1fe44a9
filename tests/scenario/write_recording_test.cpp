// SPDX-License-Identifier: MIT
#include "scenario/trace/write_recording.hpp"

#include "scenario/trace/csv.hpp"

#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

// Writes and reads a file with this name, which no other test may use: tests run at once.
Recording read_back(const Recording& recording, const char* name) {
  const std::string path = testing::TempDir() + name;
  const auto wrong = write_recording(path, recording);
  EXPECT_FALSE(wrong) << wrong->message;
  const auto text = read_text_file(path);
  EXPECT_TRUE(text) << text.error();
  std::remove(path.c_str());
  auto read = read_recording(*text, path);
  EXPECT_TRUE(read) << read.error();
  return read ? std::move(*read) : Recording{};
}

TEST(WriteRecording, ReadingGivesEqualBits) {
  Recording recording;
  recording.has_orientation = true;
  recording.entities = {{"a \"quoted\", id", {{1.0 / 60.0, {0.1, -1e-7, 1e11}, {0.5, 0.5, -0.5, 0.5}}}},
                        {"b",
                         {{0.0, {1.0 / 3.0, -0.0, 5e-324}, {1.0, 0.0, 0.0, 0.0}},
                          {0.1, {2.0, 3.0, 4.0}, {0.0, 0.6, 0.0, 0.8}}}}};
  const Recording read = read_back(recording, "reckoner_write_recording_bits.csv");
  EXPECT_TRUE(read.has_orientation);
  ASSERT_EQ(read.entities.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.entities[i].id, recording.entities[i].id);
    ASSERT_EQ(read.entities[i].samples.size(), recording.entities[i].samples.size());
    for (std::size_t k = 0; k < read.entities[i].samples.size(); ++k) {
      EXPECT_EQ(read.entities[i].samples[k].time_s, recording.entities[i].samples[k].time_s);
      EXPECT_EQ(read.entities[i].samples[k].position, recording.entities[i].samples[k].position);
      EXPECT_EQ(read.entities[i].samples[k].orientation, recording.entities[i].samples[k].orientation);
    }
  }
}

TEST(WriteRecording, LeavesOrientationsOut) {
  Recording recording;
  recording.entities = {{"a", {{0.0, {1.0, 2.0, 3.0}}}}};
  const Recording read = read_back(recording, "reckoner_write_recording_points.csv");
  EXPECT_FALSE(read.has_orientation);
  ASSERT_EQ(read.entities.size(), 1u);
  EXPECT_EQ(read.entities[0].samples[0].position, glm::dvec3(1.0, 2.0, 3.0));
}

TEST(WriteRecording, NamesAFileThatItCannotWrite) {
  const auto wrong = write_recording(testing::TempDir() + "no/such/folder.csv", Recording{});
  ASSERT_TRUE(wrong);
  EXPECT_NE(wrong->message.find("folder.csv: cannot be written"), std::string::npos);
}

}  // namespace
}  // namespace reckoner::scenario
