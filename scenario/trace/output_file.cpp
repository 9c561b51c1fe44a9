// SPDX-License-Identifier: MIT
#include "scenario/trace/output_file.hpp"

#ifndef __wasi__
#include "scenario/trace/utf8_path.hpp"
#endif

#include <cerrno>
#include <system_error>
#include <utility>

namespace reckoner::scenario {
namespace {

std::string text_of(int error) {
  return std::generic_category().message(error);
}

#ifndef __wasi__
void remove(const std::string& path) {
  std::error_code none;
  std::filesystem::remove(path_of(path), none);
}
#else
void remove(const std::string&) {}  // a module in a browser has no files
#endif

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, Named named) {
  std::string complete = path;
  bool replaces = false;
  bool removable = true;
#ifndef __wasi__
  std::error_code none;
  const std::filesystem::path target = path_of(path);
  replaces = std::filesystem::is_regular_file(target, none);
  removable = replaces || !std::filesystem::exists(target, none);
  if (replaces) {  // what a link leads to is replaced, not the link
    const std::filesystem::path real = std::filesystem::canonical(target, none);
    if (!none) complete = utf8_of(real);
  }
#endif
  const bool renames = replaces || (removable && named == Named::when_complete);
  std::string written = complete + (renames ? ".part" : "");
  errno = 0;
  std::FILE* const file = std::fopen(written.c_str(), "wb");
  if (file == nullptr) return Error{text_of(errno)};
  return OutputFile(file, std::move(complete), std::move(written), removable);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      path_(std::move(other.path_)),
      written_(std::move(other.written_)),
      removable_(other.removable_),
      why_(std::move(other.why_)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    discard();
    file_ = std::exchange(other.file_, nullptr);
    path_ = std::move(other.path_);
    written_ = std::move(other.written_);
    removable_ = other.removable_;
    why_ = std::move(other.why_);
  }
  return *this;
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::note_failure(int error) {
  if (why_.empty()) why_ = error != 0 ? text_of(error) : "unknown reason";
}

void OutputFile::write(std::string_view bytes) {
  if (file_ == nullptr || !why_.empty()) return;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) note_failure(errno);
}

void OutputFile::close_file() {
  errno = 0;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) note_failure(errno);
}

bool OutputFile::close() {
  if (file_ == nullptr) return why_.empty();
  close_file();
#ifndef __wasi__
  std::error_code renamed;
  if (why_.empty() && written_ != path_) std::filesystem::rename(path_of(written_), path_of(path_), renamed);
  if (renamed) why_ = renamed.message();
#endif
  if (!why_.empty() && removable_) remove(written_);
  return why_.empty();
}

void OutputFile::discard() {
  if (file_ == nullptr) return;
  close_file();
  if (removable_) remove(written_);
}

std::optional<Error> write_file(const std::string& path, std::string_view content) {
  auto file = OutputFile::create(path, OutputFile::Named::when_complete);
  if (!file) return Error{"could not write " + path + ": " + file.error()};
  file->write(content);
  if (file->close()) return std::nullopt;
  return Error{"could not write all of " + path + ": " + file->why()};
}

}  // namespace reckoner::scenario
