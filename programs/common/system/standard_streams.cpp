// SPDX-License-Identifier: MIT
#include "programs/common/system/standard_streams.hpp"

#include <csignal>

#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <poll.h>
#include <unistd.h>
#endif

namespace reckoner::program {

#ifdef _WIN32

void use_utf8() {
  (void)SetConsoleOutputCP(CP_UTF8);
  (void)SetConsoleCP(CP_UTF8);
}

bool is_terminal(std::FILE* stream) {
  return _isatty(_fileno(stream)) != 0;
}

void ignore_broken_pipes() {}

int read_waiting_input(std::span<char> room) {
  const HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
  DWORD waiting = 0, got = 0;
  if (GetFileType(input) == FILE_TYPE_PIPE) {
    if (!PeekNamedPipe(input, nullptr, 0, nullptr, &waiting, nullptr)) return 0;  // the writer has closed it
    if (waiting == 0) return -1;
  }
  if (!ReadFile(input, room.data(), static_cast<DWORD>(room.size()), &got, nullptr)) return 0;
  return static_cast<int>(got);
}

#else

void use_utf8() {}

bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) != 0;
}

void ignore_broken_pipes() {
  (void)std::signal(SIGPIPE, SIG_IGN);
}

int read_waiting_input(std::span<char> room) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 0) <= 0) return -1;
  return static_cast<int>(read(STDIN_FILENO, room.data(), room.size()));
}

#endif

}  // namespace reckoner::program
