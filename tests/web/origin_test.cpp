// SPDX-License-Identifier: MIT
#include "web/src/http/origin.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

const std::vector<std::string> kAllowed{"https://game.example", "http://Other.Example:8080"};

// Hosts that no attacker can make lead to this server from a page of the attacker's.
const std::vector<std::string> kGood{
    "127.0.0.1",     "10.0.0.1",          "255.255.255.255",    "0.0.0.0",       "[::1]",
    "[2001:db8::1]", "[2001:DB8:0:0::1]", "[::ffff:127.0.0.1]", "localhost",     "LOCALHOST",
    "LocalHost",     "game.example",      "GAME.example",       "other.example", "here"};

// Parts that turn a host into another one, or into none.
const std::vector<std::string> kBefore{"evil.", "evil", "user@", "user:password@", "http://", "/",
                                       " ",     "[",    "."};
const std::vector<std::string> kAfter{".",
                                      "..",
                                      ".evil.example",
                                      "evil",
                                      "@evil.example",
                                      "/",
                                      " ",
                                      "]",
                                      "%00",
                                      "?",
                                      "#",
                                      ",evil.example",
                                      "\\",
                                      ":",
                                      ":0",
                                      ":65536",
                                      ":99999999999999999999",
                                      ":-1",
                                      ":+80",
                                      ":80:80",
                                      ":80.",
                                      ":8o",
                                      ": 80",
                                      ":80 ",
                                      ":80@evil.example",
                                      ":0x50",
                                      std::string(1, '\0'),
                                      std::string("\0.evil.example", 14),
                                      "\xc3\xa9"};

TEST(WebOrigin, IsTheServerItselfOrOneThatIsAllowed) {
  const std::vector<std::string> allowed{"https://game.example"};
  EXPECT_TRUE(web::is_allowed_origin("http://10.0.0.1:8080", "10.0.0.1:8080", {}));
  EXPECT_TRUE(web::is_allowed_origin("https://game.example", "10.0.0.1:8080", allowed));
  EXPECT_FALSE(web::is_allowed_origin("https://game.example", "10.0.0.1:8080", {}));
  EXPECT_FALSE(web::is_allowed_origin("http://10.0.0.1:8081", "10.0.0.1:8080", {}));
  EXPECT_FALSE(web::is_allowed_origin("http://10.0.0.1:8080.evil.example", "10.0.0.1:8080", {}));
  EXPECT_FALSE(web::is_allowed_origin("", "", {}));
  EXPECT_FALSE(web::is_allowed_origin("null", "10.0.0.1:8080", allowed));
  EXPECT_FALSE(web::is_allowed_origin("http://", "", {}));
}

TEST(WebHost, IsALiteralAddressOrAKnownName) {
  for (const std::string& host : kGood) {
    for (const std::string port : {"", ":1", ":80", ":8080", ":65535"})
      EXPECT_TRUE(is_allowed_host(host + port, kAllowed, "Here")) << host << port;
  }
}

TEST(WebHost, IsNothingElse) {
  const auto refuse = [](const std::string& host) {
    for (const std::string port : {"", ":80"})
      EXPECT_FALSE(is_allowed_host(host + port, kAllowed, "Here")) << host << port;
  };
  for (const std::string host : {"",
                                 ".",
                                 "evil.example",
                                 "localhost.evil.example",
                                 "127.0.0.1.evil.example",
                                 "localhost.",
                                 "127.0.0.1.",
                                 "game.example.",
                                 "game.example.evil.example",
                                 "sub.game.example",
                                 "evil-game.example",
                                 "127.1",
                                 "127.0.1",
                                 "2130706433",
                                 "0x7f.0.0.1",
                                 "0177.0.0.1",
                                 "127.0.0.01",
                                 "127.0.0.256",
                                 "127.0.0.1.1",
                                 "127.0.0",
                                 "::1",
                                 "[]",
                                 "[::1",
                                 "::1]",
                                 "[::1%lo]",
                                 "[::1%251]",
                                 "[fe80::1%1]",
                                 "[::g]",
                                 "[127.0.0.1]",
                                 "[localhost]",
                                 "null",
                                 "*",
                                 "there",
                                 "xn--game-9na.example",
                                 "https",
                                 "https://game.example"})
    refuse(host);
  EXPECT_FALSE(is_allowed_host("here", kAllowed));
  EXPECT_FALSE(is_allowed_host("game.example", {}));
}

TEST(WebHost, IsNothingThatOnlyContainsAKnownOne) {
  for (const std::string& host : kGood) {
    for (const std::string& before : kBefore)
      EXPECT_FALSE(is_allowed_host(before + host, kAllowed, "Here")) << before << host;
    // ":" and a port may follow a host, but digits may not follow a port.
    for (const std::string& after : kAfter)
      EXPECT_FALSE(is_allowed_host(host + after, kAllowed, "Here")) << host << after;
  }
}

// Whatever the attacker's name is: the browser sends the same name as host and in the origin.
TEST(WebOrigin, ANameThatLeadsHereIsNotTheServerItself) {
  for (const std::string name :
       {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
        "127.0.0.1.evil.example:80", "localhost.", "localhost.:8080", "sub.game.example"}) {
    for (const std::string scheme : {"http://", "https://", "HTTP://", "ws://"}) {
      EXPECT_FALSE(is_allowed_origin(scheme + name, name, {})) << scheme << name;
      EXPECT_FALSE(is_allowed_origin(scheme + name, name, kAllowed, "10.0.0.1")) << scheme << name;
      EXPECT_FALSE(is_allowed_origin("https://game.example", name, kAllowed)) << name;
      EXPECT_FALSE(is_allowed_origin(scheme + name, "10.0.0.1", kAllowed)) << scheme << name;
    }
  }
}

TEST(WebOrigin, OfTheServerItselfHasItsHostAndPort) {
  for (const std::string host : {"127.0.0.1", "[::1]", "localhost"}) {
    EXPECT_TRUE(is_allowed_origin("http://" + host, host, {}));
    EXPECT_TRUE(is_allowed_origin("http://" + host, host + ":80", {}));
    EXPECT_TRUE(is_allowed_origin("https://" + host + ":443", host, {}));
    EXPECT_TRUE(is_allowed_origin("https://" + host + ":8080", host + ":8080", {}));
    EXPECT_FALSE(is_allowed_origin("http://" + host, host + ":443", {}));
    EXPECT_FALSE(is_allowed_origin("http://" + host + ":8081", host + ":8080", {}))
        << "another program there";
    EXPECT_FALSE(is_allowed_origin("ftp://" + host, host, {}));
    EXPECT_FALSE(is_allowed_origin("http://" + host + "/", host, {}));
    EXPECT_FALSE(is_allowed_origin("http://" + host + ".", host, {}));
    EXPECT_FALSE(is_allowed_origin("http://user@" + host, host, {}));
    EXPECT_FALSE(is_allowed_origin(host, host, {}));
    EXPECT_FALSE(is_allowed_origin("", host, {}));
    EXPECT_FALSE(is_allowed_origin("null", host, {}));
  }
  EXPECT_FALSE(is_allowed_origin("http://127.0.0.1", "[::1]", {}));
  EXPECT_TRUE(is_allowed_origin("https://game.example", "game.example", kAllowed)) << "through a proxy";
  EXPECT_TRUE(is_allowed_origin("http://other.example:8080", "127.0.0.1:9", kAllowed));
  EXPECT_FALSE(is_allowed_origin("http://other.example", "127.0.0.1:9", kAllowed));
  EXPECT_FALSE(is_allowed_origin("http://game.example", "127.0.0.1:9", kAllowed)) << "not encrypted";
}

TEST(WebOrigin, OfAnOptionHasASchemeAndAHost) {
  for (const char* origin :
       {"https://game.example", "http://10.0.0.1:8080", "https://[::1]:9", "tauri://localhost"})
    EXPECT_TRUE(is_origin(origin)) << origin;
  for (const char* origin :
       {"", "null", "*", "game.example", "game.example:80", "https://", "https://game.example/",
        "https://game.example/live.html", "https://a@game.example", "://game.example", "https://*"})
    EXPECT_FALSE(is_origin(origin)) << origin;
}

}  // namespace
}  // namespace reckoner::web
