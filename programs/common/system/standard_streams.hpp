// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <span>

namespace reckoner::program {

/// Makes the console show the program's output as UTF-8. Windows consoles do so only on request; other
/// systems need nothing.
void use_utf8();

/// True if the stream is a terminal, not a file or a pipe.
[[nodiscard]] bool is_terminal(std::FILE* stream);

/// After this call, writing to a pipe that nobody reads fails with an error instead of ending the program.
void ignore_broken_pipes();

/// Reads the part of the standard input that has arrived already. Returns the number of bytes; 0: the input
/// has ended; -1: nothing has arrived. On Windows, the input must be a pipe or a file.
[[nodiscard]] int read_waiting_input(std::span<char> room);

}  // namespace reckoner::program
