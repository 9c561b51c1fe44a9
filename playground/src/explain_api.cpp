// SPDX-License-Identifier: MIT
// Why did it jump? The page's functions about recorded sessions. Conventions are those of api.cpp.
#include "playground/src/module_text.hpp"
#include "playground/src/session_view.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#define PLAYGROUND_API(name) extern "C" __attribute__((export_name(#name), used))

namespace reckoner::playground {
namespace {

std::optional<SessionView>& session() {
  static std::optional<SessionView> one;
  return one;
}

}  // namespace

// Plays back and explains a recorded session. `decisions` may be empty. The text is then session_json().
PLAYGROUND_API(pg_session)
int pg_session(const std::byte* recording, std::size_t recording_bytes, const char* name,
               std::size_t name_bytes, const char* decisions, std::size_t decisions_bytes,
               const char* decisions_name, std::size_t decisions_name_bytes, int worst) {
  session().reset();  // free the memory of the previous one first
  auto view = view_session({recording, recording + recording_bytes}, std::string(name, name_bytes),
                           {decisions, decisions_bytes}, std::string(decisions_name, decisions_name_bytes),
                           static_cast<std::size_t>(worst < 1 ? 1 : worst));
  if (!view) return fail(view.error());
  session() = std::move(*view);
  return succeed(session_json(*session()));
}

// The numbers of the kept session (SessionView): 0 shown, 1 motion, 2 blend, 3 clock.
PLAYGROUND_API(pg_session_numbers) const float* pg_session_numbers(int which) {
  if (!session()) return nullptr;
  const SessionView& view = *session();
  return (which == 0 ? view.shown : which == 1 ? view.motion : which == 2 ? view.blend : view.clock).data();
}

}  // namespace reckoner::playground
