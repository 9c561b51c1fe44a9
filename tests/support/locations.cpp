// SPDX-License-Identifier: MIT
#include "locations.hpp"

namespace reckoner::test {

std::filesystem::path source_dir() {
  return RECKONER_SOURCE_DIR;
}
std::filesystem::path shared_dir() {
  return RECKONER_SHARED_DIR;
}
std::filesystem::path program_dir() {
  return RECKONER_PROGRAM_DIR;
}

}  // namespace reckoner::test
