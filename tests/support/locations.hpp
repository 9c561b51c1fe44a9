// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace reckoner::test {

/// Folders that tests read. The build writes their paths into locations.cpp only. So the object files of all
/// other tests do not depend on where the checkout is, and the compiler cache can use them for another
/// checkout.
[[nodiscard]] std::filesystem::path source_dir();   ///< the root of this checkout
[[nodiscard]] std::filesystem::path shared_dir();   ///< recordings beside the checkout; may not exist
[[nodiscard]] std::filesystem::path program_dir();  ///< reckoner-server and the other programs of this build

}  // namespace reckoner::test
