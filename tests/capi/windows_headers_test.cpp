// SPDX-License-Identifier: MIT
// A game may include <windows.h> before Reckoner's headers. It must define NOMINMAX, because GLM needs that,
// too. All other macros of <windows.h> must not meet a name of ours. On other systems, the test defines some
// of them itself.
#include <gtest/gtest.h>

#ifdef _WIN32
#undef WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#define DELETE (0x00010000L)
#define ERROR 0
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define TRUE 1
#define FALSE 0
#define far
#define near
#define small char
#define interface struct
#define hyper __int64
#define GetMessage GetMessageA
#define SendMessage SendMessageA
#define CreateEvent CreateEventA
#define PlaySound PlaySoundA
#define GetObject GetObjectA
#define DrawText DrawTextA
#define NO_ERROR 0L
#endif

#include <reckoner.h>

#include <reckoner/client/client.hpp>
#include <reckoner/client/client_config.hpp>
#include <reckoner/client/client_event.hpp>
#include <reckoner/client/client_stats.hpp>
#include <reckoner/client/playout.hpp>
#include <reckoner/client/shown.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/joined_transport.hpp>
#include <reckoner/net/log.hpp>
#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/pipe_server.hpp>
#include <reckoner/net/pipe_transport.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/socket_address.hpp>
#include <reckoner/net/token_gate.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/curves.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/floor.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/remote_entity.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/scaled_clock.hpp>
#include <reckoner/reckoning/shown_motions.hpp>
#include <reckoner/reckoning/state.hpp>
#include <reckoner/server/server.hpp>
#include <reckoner/server/session_stats.hpp>

namespace reckoner {
namespace {

TEST(WindowsHeaders, ReckonersHeadersFollowThem) {
  EXPECT_NE(reckoner_error_text(RECKONER_OK), nullptr);
}

}  // namespace
}  // namespace reckoner
