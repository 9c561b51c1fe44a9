// SPDX-License-Identifier: MIT
#include "web/src/http/http_request.hpp"

#include <random>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

const std::string kHost = "Host: 127.0.0.1\r\n";
const std::string kUpgrade =
    "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chat, reckoner\r\n";

int status_of(const std::string& head) {
  const auto read = read_request(head);
  const auto* const refused = std::get_if<RefusedRequest>(&read);
  return refused != nullptr ? refused->status : 200;
}

int status_with(const std::string& fields) {
  return status_of("GET / HTTP/1.1\r\n" + fields + "\r\n");
}

TEST(HttpRequest, IsReadAsABrowserSendsIt) {
  const auto read =
      read_request("GET /live.js?v=1 HTTP/1.1\r\n" + kHost +
                   "Accept:*/*\r\nCookie: \xe9=1 \t\r\nX-Empty:\r\nOrigin: http://127.0.0.1\r\n\r\n");
  const auto* const request = std::get_if<HttpRequest>(&read);
  ASSERT_NE(request, nullptr);
  EXPECT_FALSE(request->head_only);
  EXPECT_EQ(request->path, "/live.js");
  EXPECT_EQ(request->field("host"), "127.0.0.1");
  EXPECT_EQ(request->field("accept"), "*/*");
  EXPECT_EQ(request->field("cookie"), "\xe9=1");
  EXPECT_EQ(request->field("x-empty"), "");
  EXPECT_EQ(request->field("missing"), "");
  EXPECT_FALSE(request->opens_web_socket());
}

TEST(HttpRequest, OpensAWebSocket) {
  const auto opens = [](const std::string& line, const std::string& fields) {
    const auto read = read_request(line + "\r\n" + kHost + fields + "\r\n");
    const auto* const request = std::get_if<HttpRequest>(&read);
    return request != nullptr && request->opens_web_socket() &&
           request->lists("sec-websocket-protocol", "reckoner");
  };
  EXPECT_TRUE(opens("GET / HTTP/1.1", kUpgrade));
  EXPECT_FALSE(opens("GET / HTTP/1.0", kUpgrade));
  EXPECT_FALSE(opens("HEAD / HTTP/1.1", kUpgrade));
  for (const char* line :
       {"Connection: keep-alive, Upgrade\r\n", "Upgrade: WebSocket\r\n", "Sec-WebSocket-Version: 13\r\n",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"}) {
    std::string less = kUpgrade;
    less.erase(less.find(line), std::string(line).size());
    EXPECT_FALSE(opens("GET / HTTP/1.1", less)) << line;
  }
  EXPECT_FALSE(opens("GET / HTTP/1.1", kUpgrade + "Sec-WebSocket-Version: 8\r\n"));
  EXPECT_FALSE(opens("GET / HTTP/1.1", kUpgrade + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
}

TEST(HttpRequest, NeedsOneHost) {
  EXPECT_EQ(status_with(kHost), 200);
  EXPECT_EQ(status_with("HOST:\t127.0.0.1\r\n"), 200);
  EXPECT_EQ(status_with(""), 400);
  EXPECT_EQ(status_with("Host:\r\n"), 400);
  EXPECT_EQ(status_with("Host: \t\r\n"), 400);
  EXPECT_EQ(status_with(kHost + kHost), 400);
  EXPECT_EQ(status_with(kHost + "Host: evil.example\r\n"), 400);
  EXPECT_EQ(status_with(kHost + "host: evil.example\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n" + kHost + "\r\n"), 200);
}

TEST(HttpRequest, HasNoBody) {
  EXPECT_EQ(status_with(kHost + "Content-Length: 0\r\n"), 200);
  for (const char* field :
       {"Content-Length: 1", "content-length: 00", "Content-Length: -0",
        "Content-Length:", "Content-Length: 0\r\nContent-Length: 5", "Transfer-Encoding: chunked",
        "Transfer-Encoding: identity", "Transfer-Encoding:"})
    EXPECT_EQ(status_with(kHost + field + "\r\n"), 400) << field;
}

TEST(HttpRequest, HasOneForm) {
  for (const char* line : {"GET / HTTP/1.1", "GET /a?b#c HTTP/1.1", "HEAD / HTTP/1.1"})
    EXPECT_EQ(status_of(std::string(line) + "\r\n" + kHost + "\r\n"), 200) << line;
  for (const char* line :
       {"GET", "GET ", "GET /", "GET  HTTP/1.1", "GET / HTTP/1.1 ", "GET / / HTTP/1.1", "GET  / HTTP/1.1",
        "GET http://127.0.0.1/ HTTP/1.1", "GET * HTTP/1.1", "GET /\t HTTP/1.1", "GET /\x01 HTTP/1.1",
        "GET /\xff HTTP/1.1", "GET / HTTPS/1.1", "GET / http/1.1", "get / HTTP/1.1", " GET / HTTP/1.1", ""})
    EXPECT_EQ(status_of(std::string(line) + "\r\n" + kHost + "\r\n"), 400) << line;
  for (const char* line :
       {"POST / HTTP/1.1", "PUT / HTTP/1.1", "GETS / HTTP/1.1", "HEADER / HTTP/1.1", "PRI * HTTP/2.0"})
    EXPECT_EQ(status_of(std::string(line) + "\r\n" + kHost + "\r\n"), 405) << line;
  for (const char* line : {"GET / HTTP/2.0", "GET / HTTP/1.2", "GET / HTTP/0.9", "GET / HTTP/1.10"})
    EXPECT_EQ(status_of(std::string(line) + "\r\n" + kHost + "\r\n"), 505) << line;
  for (const char* field : {"no colon", ": no name", "a b: c", "a : b", " folded: a", "\tfolded: a",
                            "a: b\rc", "a: b\nc", "a\x01: b", "a: \x7f", "\xe9: b"})
    EXPECT_EQ(status_with(kHost + field + "\r\n"), 400) << field;
  EXPECT_EQ(status_with(kHost + std::string("a: \0", 4) + "\r\n"), 400);
  std::string many = kHost;
  for (int i = 0; i < 70; ++i)
    many += "a: b\r\n";
  EXPECT_EQ(status_with(many), 400);
}

TEST(HttpRequest, IsRefusedAsEarlyAsPossible) {
  for (const char* begin : {"", "G", "GET", "GET ", "GET /x", "H", "HEAD ", "HEAD /"})
    EXPECT_FALSE(refuse_early(begin)) << begin;
  for (const char* begin : {"P", "POST", "GP", "GETS", "HEADE", "OPTIONS"}) {
    ASSERT_TRUE(refuse_early(begin)) << begin;
    EXPECT_EQ(refuse_early(begin)->status, 405) << begin;
  }
  EXPECT_EQ(refuse_early("\x16\x03\x01")->status, 400);
}

TEST(HttpRequest, SurvivesAnyBytes) {
  std::mt19937 random(1);
  const std::string valid = "GET / HTTP/1.1\r\n" + kHost + kUpgrade + "\r\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = valid.substr(0, i % 3 == 0 ? random() % valid.size() : valid.size());
    for (auto k = random() % 5; k > 0 && !bytes.empty(); --k)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto read = read_request(bytes);
    if (const auto* const request = std::get_if<HttpRequest>(&read)) {
      EXPECT_FALSE(request->field("host").empty());
      EXPECT_TRUE(request->path.starts_with('/'));
    }
  }
}

}  // namespace
}  // namespace reckoner::web
