// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace reckoner::web {

/// The files of a folder, for a web server. A file stays in memory after its first request, because an open
/// file for each request would use up the descriptors of the process. It is read again when it has changed.
class PageFiles {
 public:
  struct File {
    std::shared_ptr<const std::string> bytes;
    std::string_view type;  ///< media type, for example "text/html"
  };

  /// `folder`: the operator's, and so trusted, also links in it. Empty: no files. `front`: the name of the
  /// file that "/" is.
  PageFiles(std::string folder, std::string front)
      : folder_(std::move(folder)), front_('/' + std::move(front)) {}

  /// Returns the file of an untrusted path such as "/game.js", or of "/". Nullopt if there is no
  /// such file, if it is larger than 64 MiB, or if a part of the path begins with '.' or has other characters
  /// than letters, digits, '.', '-' and '_'.
  [[nodiscard]] std::optional<File> find(std::string_view path);

 private:
  struct Kept {
    std::shared_ptr<const std::string> bytes;
    std::filesystem::file_time_type changed;
  };

  std::string folder_;
  std::string front_;
  std::unordered_map<std::string, Kept> kept_;  // no more than the folder has
};

}  // namespace reckoner::web
