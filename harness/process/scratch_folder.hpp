// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <system_error>

namespace reckoner::harness {

/// A temporary folder. The destructor removes it. The path is empty if the folder could not be created.
class ScratchFolder {
 public:
  ScratchFolder() {
    constexpr int kTries = 100;
    std::error_code failed;
    const auto parent = std::filesystem::temp_directory_path(failed);
    std::random_device random;
    for (int i = 0; i < kTries && !failed && path_.empty(); ++i) {
      const auto path = parent / ("reckoner-" + std::to_string(random()));
      if (!std::filesystem::create_directory(path, failed)) continue;  // somebody else has this one
      path_ = path;
      std::filesystem::permissions(path, std::filesystem::perms::owner_all, failed);
    }
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace reckoner::harness
