// SPDX-License-Identifier: MIT
// ChildProcess on Windows.
#include "harness/process/child_process.hpp"
#include "scenario/trace/utf8_path.hpp"

#include <system_error>
#include <utility>

#include <windows.h>

namespace reckoner::harness {
namespace {

HANDLE handle_of(std::intptr_t number) {
  return reinterpret_cast<HANDLE>(number);
}

std::intptr_t number_of(HANDLE handle) {
  return reinterpret_cast<std::intptr_t>(handle);
}

/// Closes a handle at its end.
class Owned {
 public:
  explicit Owned(HANDLE handle = INVALID_HANDLE_VALUE) : handle_(handle) {}
  ~Owned() {
    if (*this) CloseHandle(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] HANDLE* place() { return &handle_; }
  [[nodiscard]] HANDLE get() const { return handle_; }
  [[nodiscard]] HANDLE release() { return std::exchange(handle_, INVALID_HANDLE_VALUE); }
  explicit operator bool() const { return handle_ != INVALID_HANDLE_VALUE && handle_ != nullptr; }

 private:
  HANDLE handle_;
};

Error start_error(const std::string& name) {
  return Error{"cannot start " + name + ": " +
               std::system_category().message(static_cast<int>(GetLastError()))};
}

// Quotes an argument so that the C library of the program reads it back: backslashes before a quotation mark
// are doubled.
std::string quoted(const std::string& argument) {
  std::string text = "\"";
  std::size_t backslashes = 0;
  for (const char c : argument) {
    if (c == '"') text.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    text += c;
  }
  return text.append(backslashes, '\\') + "\"";
}

std::wstring wide(const std::string& utf8) {
  const int size = static_cast<int>(utf8.size());
  std::wstring text(utf8.size(), L'\0');
  const int length = MultiByteToWideChar(CP_UTF8, 0, utf8.data(), size, text.data(), size);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::filesystem::path& program,
                                         const std::vector<std::string>& arguments,
                                         const std::filesystem::path& log, Input input) {
  const std::string name = utf8_of(program);
  std::string line = quoted(name);
  for (const std::string& argument : arguments)
    line += ' ' + quoted(argument);
  std::wstring command = wide(line);

  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  const Owned output(CreateFileW(log.c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                                 CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  Owned read_end, write_end;
  if (!output) return start_error(name);
  if (input == Input::piped) {
    if (!CreatePipe(read_end.place(), write_end.place(), &inherited, 0)) return start_error(name);
    SetHandleInformation(write_end.get(), HANDLE_FLAG_INHERIT, 0);
  } else {
    *read_end.place() = CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                                    OPEN_EXISTING, 0, nullptr);
  }
  STARTUPINFOW startup{};
  startup.cb = sizeof startup;
  startup.dwFlags = STARTF_USESTDHANDLES;
  startup.hStdInput = read_end.get();
  startup.hStdOutput = output.get();
  startup.hStdError = output.get();
  PROCESS_INFORMATION made{};
  // A group of its own, so that request_stop() does not reach this program, too.
  if (!CreateProcessW(nullptr, command.data(), nullptr, nullptr, TRUE, CREATE_NEW_PROCESS_GROUP, nullptr,
                      nullptr, &startup, &made))
    return start_error(name);
  CloseHandle(made.hThread);
  const std::intptr_t pipe = write_end ? number_of(write_end.release()) : -1;
  return ChildProcess(static_cast<int>(made.dwProcessId), number_of(made.hProcess), pipe, log);
}

bool ChildProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";
  DWORD written = 0;
  return input_ != -1 &&
         WriteFile(handle_of(input_), text.data(), static_cast<DWORD>(text.size()), &written, nullptr) &&
         written == text.size();
}

void ChildProcess::close_input() {
  if (input_ != -1) CloseHandle(handle_of(std::exchange(input_, -1)));
}

std::optional<int> ChildProcess::exit_code() {
  if (exit_code_ || pid_ < 0) return exit_code_;
  if (WaitForSingleObject(handle_of(handle_), 0) != WAIT_OBJECT_0) return std::nullopt;
  DWORD code = 0;
  GetExitCodeProcess(handle_of(handle_), &code);
  CloseHandle(handle_of(std::exchange(handle_, -1)));
  exit_code_ = static_cast<int>(code);
  return exit_code_;
}

bool ChildProcess::set_stopped(bool /*stopped*/) {
  return false;
}

void ChildProcess::request_stop() {
  if (pid_ >= 0 && !exit_code()) GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, static_cast<DWORD>(pid_));
}

void ChildProcess::kill() {
  constexpr UINT kKilled = 128 + 9;
  TerminateProcess(handle_of(handle_), kKilled);
  WaitForSingleObject(handle_of(handle_), INFINITE);
  (void)exit_code();
}

std::filesystem::path program_folder(const char* /*argv0*/) {
  std::wstring path(32 * 1024, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return std::filesystem::path(path).parent_path();
}

}  // namespace reckoner::harness
