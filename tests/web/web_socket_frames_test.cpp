// SPDX-License-Identifier: MIT
#include "web/src/http/web_socket_frames.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

constexpr std::size_t kMaxMessage = 1000;

// A frame of a client. `mask`: four bytes.
std::string frame(unsigned first_byte, const std::string& payload,
                  const std::string& mask = "\x12\x34\x56\x78") {
  std::string out;
  out.push_back(static_cast<char>(first_byte));
  const std::size_t size = payload.size();
  out.push_back(static_cast<char>(0x80 | (size < 126 ? size : size < 65'536 ? 126 : 127)));
  for (int shift = size < 126 ? -8 : size < 65'536 ? 8 : 56; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(size >> shift));
  out += mask;
  for (std::size_t i = 0; i < size; ++i)
    out.push_back(static_cast<char>(payload[i] ^ mask[i % 4]));
  return out;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Sink final : FrameSink {
  bool admit_frame(std::size_t bytes) override {
    ++frames;
    payload_bytes += bytes;
    return frames <= admitted;
  }
  bool on_message(std::span<const std::byte> bytes) override {
    messages.push_back(text_of(bytes));
    return messages.size() < stops_after;
  }
  bool on_ping(std::span<const std::byte> payload) override {
    pings.push_back(text_of(payload));
    return true;
  }
  void on_close() override { closed = true; }

  std::size_t admitted = SIZE_MAX, stops_after = SIZE_MAX;
  std::size_t frames = 0, payload_bytes = 0;
  std::vector<std::string> messages, pings;
  bool closed = false;
};

std::optional<Refusal> read(FrameReader& reader, const std::string& bytes, Sink& sink,
                            std::size_t at_once = SIZE_MAX) {
  for (std::size_t i = 0; i < bytes.size(); i += std::min(at_once, bytes.size())) {
    const std::string part = bytes.substr(i, at_once);
    if (const auto why = reader.read(std::as_bytes(std::span(part)), sink)) return why;
  }
  return std::nullopt;
}

TEST(FrameReader, ReadsTextsIfTheyAreAdmitted) {
  struct TextSink final : FrameSink {
    bool admit_frame(std::size_t) override { return true; }
    bool on_message(std::span<const std::byte> bytes) override {
      all.push_back("binary " + text_of(bytes));
      return true;
    }
    bool on_text(std::span<const std::byte> bytes) override {
      all.push_back("text " + text_of(bytes));
      return true;
    }
    bool on_ping(std::span<const std::byte>) override { return true; }
    void on_close() override {}
    std::vector<std::string> all;
  };
  const auto read_all = [](FrameReader& reader, const std::string& bytes, FrameSink& sink) {
    return reader.read(std::as_bytes(std::span(bytes)), sink);
  };
  FrameReader reader(10, 20);
  TextSink sink;
  // The limits of both kinds are their own, also for messages in parts.
  const std::string all = frame(0x81, std::string(20, 't')) + frame(0x82, "b") + frame(0x01, "on") +
                          frame(0x80, "e") + frame(0x82, std::string(10, 'b'));
  EXPECT_EQ(read_all(reader, all, sink), std::nullopt);
  EXPECT_EQ(sink.all, (std::vector<std::string>{"text " + std::string(20, 't'), "binary b", "text one",
                                                "binary " + std::string(10, 'b')}));
  FrameReader other(10, 20), third(10, 20), fourth(10);
  EXPECT_EQ(read_all(other, frame(0x81, std::string(21, 't')), sink), Refusal::too_large);
  EXPECT_EQ(read_all(third, frame(0x01, std::string(15, 't')) + frame(0x80, std::string(6, 't')), sink),
            Refusal::too_large);
  EXPECT_EQ(read_all(fourth, frame(0x81, "t"), sink), Refusal::malformed) << "not admitted";
}

TEST(FrameReader, ReadsMessagesInWholeAndInParts) {
  const std::string long_one(700, 'y');
  const std::string stream = frame(0x82, "one") + frame(0x82, "") + frame(0x02, "t") + frame(0x89, "ping") +
                             frame(0x00, "") + frame(0x00, "w") + frame(0x8a, "pong") + frame(0x80, "o") +
                             frame(0x82, long_one, std::string(4, '\0'));
  for (const std::size_t at_once :
       {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, SIZE_MAX}) {
    FrameReader reader(kMaxMessage);
    Sink sink;
    EXPECT_FALSE(read(reader, stream, sink, at_once));
    EXPECT_EQ(sink.messages, (std::vector<std::string>{"one", "", "two", long_one}));
    EXPECT_EQ(sink.pings, std::vector<std::string>{"ping"});
    EXPECT_EQ(sink.frames, 9u) << "control frames, parts and empty frames count";
    EXPECT_EQ(sink.payload_bytes, 3u + 4u + 3u + 4u + 700u);
  }
}

TEST(FrameReader, SkipsWhatIsNotAdmitted) {
  FrameReader reader(kMaxMessage);
  Sink sink;
  sink.admitted = 2;
  EXPECT_FALSE(read(reader, frame(0x02, "a") + frame(0x89, "b") + frame(0x00, "c") + frame(0x89, "d"), sink));
  sink.admitted = SIZE_MAX;
  EXPECT_FALSE(read(reader, frame(0x80, "e") + frame(0x82, "f"), sink));
  EXPECT_EQ(sink.messages, std::vector<std::string>{"f"})
      << "a message without one of its parts is no message";
  EXPECT_EQ(sink.pings, std::vector<std::string>{"b"});
}

TEST(FrameReader, RefusesAMessageBeforeItsPayload) {
  for (const std::string& head :
       {frame(0x82, std::string(kMaxMessage + 1, 'x')), frame(0x82, std::string(70'000, 'x'))}) {
    FrameReader reader(kMaxMessage);
    Sink sink;
    EXPECT_EQ(read(reader, head.substr(0, 14), sink), Refusal::too_large);
    EXPECT_EQ(sink.frames, 0u);
    EXPECT_FALSE(read(reader, frame(0x82, "x"), sink)) << "nothing more is read";
    EXPECT_TRUE(sink.messages.empty());
  }
  FrameReader huge(kMaxMessage);
  Sink sink;
  EXPECT_EQ(read(huge, "\x82\xff" + std::string(8, '\xff') + "mask", sink), Refusal::too_large);
  FrameReader parts(kMaxMessage);
  EXPECT_FALSE(read(parts, frame(0x02, std::string(600, 'x')), sink));
  EXPECT_EQ(read(parts, frame(0x00, std::string(401, 'x')), sink), Refusal::too_large);
}

TEST(FrameReader, RefusesFramesThatNoClientSends) {
  const std::string begun = frame(0x02, "begun");
  for (const std::string& stream :
       {frame(0x81, "text"), frame(0x83, ""), frame(0x87, ""), frame(0x8b, ""), frame(0x8f, ""),
        frame(0x80, "no begin"), frame(0xc2, "compressed"), frame(0xa2, ""), frame(0x92, ""),
        frame(0x09, "in parts"), frame(0x08, ""), frame(0x89, std::string(126, 'x')),
        frame(0x88, std::string(126, 'x')), begun + frame(0x82, "another"), begun + frame(0x02, ""),
        begun + frame(0x81, ""), std::string("\x82\x03xyz"), std::string("\x82\x00", 2)}) {
    FrameReader reader(kMaxMessage);
    Sink sink;
    EXPECT_EQ(read(reader, stream, sink), Refusal::malformed) << testing::PrintToString(stream.substr(0, 20));
    EXPECT_TRUE(sink.messages.empty());
  }
}

TEST(FrameReader, StopsAtACloseFrameOrWhenToldTo) {
  FrameReader reader(kMaxMessage);
  Sink sink;
  EXPECT_FALSE(read(reader, frame(0x02, "a") + frame(0x88, "\x03\xe8") + frame(0x80, "b"), sink));
  EXPECT_TRUE(sink.closed);
  EXPECT_TRUE(sink.messages.empty());
  FrameReader told(kMaxMessage);
  sink.stops_after = 1;
  EXPECT_FALSE(read(told, frame(0x82, "a") + frame(0x82, "b"), sink));
  EXPECT_EQ(sink.messages.size(), 1u);
}

TEST(FrameReader, SurvivesAnyBytes) {
  std::mt19937 random(1);
  for (int run = 0; run < 2000; ++run) {
    FrameReader reader(kMaxMessage);
    Sink sink;
    std::string stream;
    for (int i = 0; i < 10; ++i)
      stream += frame(random() % 4 != 0 ? 0x82u : static_cast<unsigned>(random() & 0xff),
                      std::string(random() % 200, 'x'));
    for (auto k = random() % 3; k > 0; --k)
      stream[random() % stream.size()] = static_cast<char>(random());
    (void)read(reader, stream, sink, 1 + random() % 100);
    for (const std::string& message : sink.messages)
      EXPECT_LE(message.size(), kMaxMessage);
  }
}

TEST(FrameHeader, HasTheShortestLength) {
  const auto header = [](std::size_t bytes) {
    std::vector<std::byte> out;
    write_frame_header(kBinaryFrame, bytes, out);
    return text_of(out);
  };
  EXPECT_EQ(header(0), std::string("\x82\x00", 2));
  EXPECT_EQ(header(125), "\x82\x7d");
  EXPECT_EQ(header(126), std::string("\x82\x7e\x00\x7e", 4));
  EXPECT_EQ(header(65'535), "\x82\x7e\xff\xff");
  EXPECT_EQ(header(65'536), std::string("\x82\x7f\0\0\0\0\0\1\0\0", 10));
}

}  // namespace
}  // namespace reckoner::web
