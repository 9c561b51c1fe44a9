// SPDX-License-Identifier: MIT
// Runs a target without libFuzzer, on any compiler:
//   fuzz_NAME DIRECTORY          every file in it, and some damaged copies of each
//   fuzz_NAME FILE               one file, unchanged
//   fuzz_NAME --seeds DIRECTORY  writes the target's seeds there
#include "target.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace reckoner::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kDamagedCopies = 24;

Bytes bytes_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

int write_seeds(const fs::path& folder) {
  fs::create_directories(folder);
  int number = 0;
  for (const Bytes& seed : seeds()) {
    char name[32];
    (void)std::snprintf(name, sizeof name, "seed-%03d", number++);
    std::ofstream file{folder / name, std::ios::binary};
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    if (!file) return 1;
  }
  std::printf("%d seeds\n", number);
  return 0;
}

void run_damaged(const Bytes& good, std::size_t number) {
  std::mt19937_64 random{number};
  for (int i = 0; i < kDamagedCopies; ++i) {
    Bytes decisions(32);
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    Choices choices{decisions};
    Bytes bad = good;
    if (damage(choices, bad)) run(bad);
  }
}

int replay(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{folder})
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::printf("%s\n", files[i].filename().string().c_str());
    (void)std::fflush(stdout);
    const Bytes bytes = bytes_of(files[i]);
    run(bytes);
    run_damaged(bytes, i);
  }
  return files.empty() ? 1 : 0;
}

}  // namespace
}  // namespace reckoner::fuzz

int main(int count, char** arguments) {
  using namespace reckoner::fuzz;
  if (count == 3 && std::string_view(arguments[1]) == "--seeds") return write_seeds(arguments[2]);
  if (count != 2) return 2;
  if (fs::is_directory(arguments[1])) return replay(arguments[1]);
  run(bytes_of(arguments[1]));
  return 0;
}
