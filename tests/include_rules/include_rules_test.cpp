// SPDX-License-Identifier: MIT
// Checks the allowed includes between libraries and rooms, and that library code uses no clock and no
// platform header.
#include "include_checker.hpp"
#include "tests/support/locations.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

std::string listed(const std::vector<Violation>& violations) {
  std::string lines;
  for (const Violation& v : violations)
    lines += v.path + ":" + std::to_string(v.line) + ": " + v.what + "\n";
  return lines;
}

TEST(IncludeRules, ProjectFollowsThem) {
  const TreeReport report = check_tree(source_dir().string());
  EXPECT_TRUE(report.violations.empty()) << listed(report.violations);
  for (const char* folder : {"reckoning/", "net/", "server/", "client/", "cluster/", "web/", "capi/",
                             "scenario/", "programs/", "harness/"}) {
    EXPECT_TRUE(std::any_of(report.checked.begin(), report.checked.end(),
                            [&](const std::string& path) { return path.starts_with(folder); }))
        << "nothing was checked in " << folder;
  }
}

// Only two places may include ENet: the transport, and the plain ENet server that is its yardstick.
TEST(IncludeRules, EnetIsIncludedInTwoPlaces) {
  const std::vector<std::string> expected{"harness/stress/load/roles/plain_enet.cpp",
                                          "net/src/transport/enet/enet_library.hpp"};
  EXPECT_EQ(check_tree(source_dir().string()).includes_enet_h, expected);
}

struct Plant {
  const char* path;
  const char* line;
};

class PlantedViolation : public testing::TestWithParam<Plant> {};

TEST_P(PlantedViolation, IsReportedWithItsLine) {
  const std::string text = std::string("// SPDX\n#include <vector>\n") + GetParam().line + "\nint x;\n";
  const auto found = check_source(GetParam().path, text);
  ASSERT_EQ(found.size(), 1u) << GetParam().path << ": " << GetParam().line << "\n" << listed(found);
  EXPECT_EQ(found.front().path, GetParam().path);
  EXPECT_EQ(found.front().line, 3);
}

INSTANTIATE_TEST_SUITE_P(
    , PlantedViolation,
    testing::Values(
        Plant{"reckoning/src/a.cpp", "#include <reckoner/net/ids.hpp>"},
        Plant{"reckoning/src/a.cpp", "#include <cereal/cereal.hpp>"},
        Plant{"reckoning/src/a.cpp", "#include <sys/time.h>"},
        Plant{"net/src/a.cpp", "#include <reckoner/server/server.hpp>"},
        Plant{"net/src/a.cpp", "#include <reckoner/reckoning/blend.hpp>"},
        Plant{"net/src/a.cpp", "#include <enet/enet.h>"}, Plant{"net/src/a.cpp", "  # include <arpa/inet.h>"},
        Plant{"net/include/reckoner/net/a.hpp", "#include <cereal/cereal.hpp>"},
        Plant{"net/include/reckoner/net/a.hpp", "#include \"a_detail.hpp\""},
        Plant{"net/src/transport/enet/enet_transport.cpp", "#include <reckoner/client/client.hpp>"},
        Plant{"server/src/a.cpp", "#include <reckoner/client/client.hpp>"},
        Plant{"server/src/a.cpp", "#include \"../../net/src/bits.hpp\""},
        Plant{"server/src/session/a.cpp", "#include \"session.hpp\""},
        Plant{"server/src/world/a.cpp", "#include \"server/src/session/session.hpp\""},
        Plant{"server/src/world/a.cpp", "#include \"server/src/server_impl.hpp\""},
        Plant{"server/src/world/a.cpp", "#include \"client/src/world/entity_store.hpp\""},
        Plant{"net/src/wire/a.cpp", "#include \"net/src/codec/motion_codec.hpp\""},
        Plant{"net/src/transport/a.cpp", "#include \"net/src/transport/enet/enet_transport.hpp\""},
        Plant{"programs/server/a.cpp", "#include \"programs/client/report.hpp\""},
        Plant{"harness/sim/a.cpp", "#include \"harness/replay/replay.hpp\""},
        Plant{"server/src/a.cpp", "const auto now = std::chrono::steady_clock::now();"},
        Plant{"client/src/a.cpp", "#include <reckoner/server/server.hpp>"},
        Plant{"client/src/a.cpp", "#include <unistd.h>"}, Plant{"client/src/a.cpp", "#include <ctime>"},
        Plant{"client/src/a.cpp", "#include <spdlog/spdlog.h>"}, Plant{"client/src/a.cpp", "x = rand() % 6;"},
        Plant{"client/src/a.cpp", "auto t = std::time(nullptr);"},
        Plant{"client/src/a.cpp", "const char q = '\"'; /* \"  */ x = 1'000 + rand();"},
        Plant{"client/src/a.cpp", "const char* s = \"//\"; x = rand();"},
        Plant{"client/src/a.cpp", "#include <reckoner.h>"},
        Plant{"server/src/a.cpp", "#include <reckoner.h>"},
        Plant{"capi/src/a.cpp", "#include \"harness/sim/link.hpp\""},
        Plant{"cluster/src/a.cpp", "#include <nats/nats.h>"},
        Plant{"server/src/a.cpp", "#include <nats/nats.h>"},
        Plant{"cluster/src/a.cpp", "#include \"server/src/server_impl.hpp\""},
        Plant{"server/src/a.cpp", "#include <reckoner/cluster/bus.hpp>"},
        Plant{"net/src/a.cpp", "#include <openssl/evp.h>"},
        Plant{"net/src/a.cpp", "#include \"web/src/ice/ice_lite.hpp\""},
        Plant{"programs/server/a.cpp", "#include <libwebsockets.h>"},
        Plant{"web/src/http/a.cpp", "#include <libwebsockets.h>"},
        Plant{"web/src/http/a.cpp", "#include \"web/src/listener/connection_table.hpp\""},
        Plant{"web/include/reckoner/web/a.hpp", "#include <openssl/evp.h>"},
        Plant{"web/src/a.cpp", "#include <reckoner/server/server.hpp>"},
        Plant{"web/src/channel/a.cpp", "#include <usrsctp.h>"},
        Plant{"web/src/sctp/a.cpp", "#include \"web/src/dtls/dtls_session.hpp\""},
        Plant{"web/src/a.cpp", "#include <sys/socket.h>"}, Plant{"capi/src/a.cpp", "#include <sodium.h>"},
        Plant{"capi/src/a.cpp", "#include <unistd.h>"},
        Plant{"capi/src/a.cpp", "const auto now = std::chrono::steady_clock::now();"},
        Plant{"capi/include/reckoner.h", "#include <glm/vec3.hpp>"},
        Plant{"capi/include/reckoner.h", "#include <stdbool.h>"},
        Plant{"scenario/a.cpp", "#include <reckoner/net/ids.hpp>"},
        Plant{"scenario/a.cpp", "std::normal_distribution<double> noise;"},
        Plant{"scenario/builtin/builtin.cpp", "#include <btBulletDynamicsCommon.h>"},
        Plant{"scenario/builtin/physics/cubes.cpp", "#include <btBulletDynamicsCommon.h>"},
        Plant{"scenario/builtin/random.cpp", "#include \"scenario/builtin/physics/physics_scenes.hpp\""},
        Plant{"harness/a.cpp", "#include <btBulletDynamicsCommon.h>"},
        Plant{"harness/a.cpp", "#include <enet/enet.h>"},
        Plant{"harness/stress/load/roles/plain_enet.cpp", "#include <CLI/CLI.hpp>"},
        Plant{"server/include/reckoner/server/a.hpp", "#include <CLI/CLI.hpp>"}));

class AllowedLine : public testing::TestWithParam<Plant> {};

TEST_P(AllowedLine, IsNotReported) {
  const auto found = check_source(GetParam().path, std::string(GetParam().line) + "\n");
  EXPECT_TRUE(found.empty()) << listed(found);
}

INSTANTIATE_TEST_SUITE_P(
    , AllowedLine,
    testing::Values(Plant{"reckoning/src/a.cpp", "#include <glm/vec3.hpp>"},
                    Plant{"reckoning/src/a.cpp", "#include <cmath>"},
                    Plant{"reckoning/src/a.cpp", "// unlike steady_clock, and not #include <unistd.h>"},
                    Plant{"reckoning/src/a.cpp", "/* rand()\n   #include <unistd.h>\n*/ int random_seed;"},
                    Plant{"reckoning/src/a.cpp",
                          "const char* s = \"\\\"\"; /* rand() */ int million = 1'000'000;  // rand()"},
                    Plant{"capi/src/a.cpp", "#include <reckoner/server/server.hpp>"},
                    Plant{"cluster/src/nats/a.cpp", "#include <nats/nats.h>"},
                    Plant{"web/src/ice/a.cpp", "#include <openssl/evp.h>"},
                    Plant{"web/src/sctp/sctp_association.cpp", "#include <usrsctp.h>"},
                    Plant{"capi/src/a.cpp", "#include <reckoner/client/client.hpp>"},
                    Plant{"capi/src/a.cpp", "#include <reckoner.h>"},
                    Plant{"capi/include/reckoner.h", "#include <stdint.h>"},
                    Plant{"net/src/a.cpp", "#include <cereal/cereal.hpp>"},
                    Plant{"net/src/a.cpp", "#include \"net/src/wire/bit_archive.hpp\""},
                    Plant{"server/src/session/a.cpp", "#include \"server/src/world/entity_table.hpp\""},
                    Plant{"server/src/a.cpp", "#include \"server/src/session/session.hpp\""},
                    Plant{"harness/replay/a.cpp", "#include \"programs/common/loop/clock.hpp\""},
                    Plant{"net/src/transport/enet/enet_transport.cpp", "#include <enet/enet.h>"},
                    Plant{"harness/stress/load/roles/plain_enet.cpp", "#include <enet/enet.h>"},
                    Plant{"scenario/builtin/physics/physics_world.cpp",
                          "#include <btBulletDynamicsCommon.h>"},
                    Plant{"programs/client/main.cpp", "#include <unistd.h>"},
                    Plant{"programs/client/main.cpp", "auto t = std::chrono::steady_clock::now();"},
                    Plant{"harness/a.cpp", "#include <poll.h>"},
                    Plant{"tests/net/a.cpp", "#include <unistd.h>"}));

TEST(IncludeRules, WholeTreeIsSearched) {
  const auto root = std::filesystem::path(testing::TempDir()) / "reckoner_include_rules_tree";
  std::filesystem::remove_all(root);
  const auto plant = [&](const char* path, const char* text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  plant("net/src/deep/down/bad.cpp", "#include <netinet/in.h>\n");
  plant("net/src/deep/down/notes.txt", "#include <netinet/in.h>\n");
  plant("net/src/transport/enet/enet_transport.cpp", "#include <enet/enet.h>\n");
  plant("server/src/second.cpp", "#include <enet/enet.h>\n");

  const TreeReport report = check_tree(root.string());
  ASSERT_EQ(report.violations.size(), 2u) << listed(report.violations);
  EXPECT_EQ(report.violations[0].path, "net/src/deep/down/bad.cpp");
  EXPECT_EQ(report.violations[1].path, "server/src/second.cpp");
  EXPECT_EQ(report.checked.size(), 3u);
  EXPECT_EQ(report.includes_enet_h.size(), 2u);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace reckoner::test
