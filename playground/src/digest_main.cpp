// SPDX-License-Identifier: MIT
// playground_digest SETTINGS [RECORDING]: prints the digest of a run, with the settings as JSON text.
#include "playground/src/digest.hpp"
#include "scenario/trace/csv.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  using namespace reckoner;
  if (argc < 2) {
    std::fputs("usage: playground_digest SETTINGS [RECORDING]\n", stderr);
    return 2;
  }
  const auto fail = [](const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    return 1;
  };
  const auto settings = playground::read_settings(argv[1]);
  if (!settings) return fail(settings.error());
  std::string recording;
  if (argc > 2) {
    auto text = scenario::read_text_file(argv[2]);
    if (!text) return fail(text.error());
    recording = std::move(*text);
  }
  const auto lines = playground::digest(*settings, recording);
  if (!lines) return fail(lines.error());
  std::fputs(lines->c_str(), stdout);
  return 0;
}
