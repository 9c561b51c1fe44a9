// SPDX-License-Identifier: MIT
#pragma once

#include "http.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"
#include "process.hpp"
#include "programs/common/archetypes.hpp"
#include "tests/support/loopback.hpp"
#include "web_socket.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/pipe_transport.hpp>

namespace reckoner::test {

using pipe::Kind;

/// The origin of a page of the server itself.
inline std::string page_origin(WebSocket::Security security = WebSocket::Security::none) {
  return (security == WebSocket::Security::tls ? "https://" : "http://") + url_host();
}

inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::vector<std::byte> message(Kind kind, std::span<const std::byte> body = {},
                                      std::uint32_t reason = 0) {
  std::vector<std::byte> out;
  pipe::write({.kind = kind, .reason = reason, .body = body}, out);
  return out;
}

inline std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// The client library over a WebSocket.
class Watcher {
 public:
  explicit Watcher(std::uint16_t port, std::span<const std::byte> token = {},
                   WebSocket::Security security = WebSocket::Security::none)
      : socket_(port, security),
        transport_([this](std::span<const std::byte> sent) { return socket_.send(sent); }, token) {
    ClientConfig config;
    config.archetypes = program::archetypes();
    client_.emplace(std::move(*Client::create(std::move(config), transport_)));
    if (socket_.open(page_origin(security))) transport_.opened();
  }

  /// Shows frames for this time, or until the client has ended or shows `enough` entities. Returns the
  /// largest number of shown entities.
  std::size_t watch(double seconds, std::size_t enough = SIZE_MAX) {
    std::size_t most = 0;
    for (const double until_s = now_s() + seconds; now_s() < until_s && !has_ended() && most < enough;) {
      while (const auto next = socket_.next()) {
        transport_.received(*next, now_s());
        client_->update(now_s());
      }
      client_->update(now_s());
      most = std::max(most, client_->shown().size());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return most;
  }

  [[nodiscard]] bool has_ended() const { return client_->status() == ClientStatus::disconnected; }
  [[nodiscard]] const Client& client() const { return *client_; }
  [[nodiscard]] const PipeTransport& transport() const { return transport_; }

 private:
  WebSocket socket_;
  PipeTransport transport_;
  std::optional<Client> client_;
};

/// A server with a live view on loopback().
class WatchServer : public testing::Test {
 protected:
  void start(const std::vector<std::string>& more) { run_server("reckoner-server", {}, more); }
  void start_with_tls(const std::vector<std::string>& more) {
    const std::string certificate = scratch_.file("server.pem");
    ASSERT_TRUE(write_certificate(certificate));
    std::vector<std::string> all{"--watch-certificate", certificate};
    all.insert(all.end(), more.begin(), more.end());
    start(all);
  }
  /// The server may have this many descriptors open.
  void start_with_descriptors(int most, const std::vector<std::string>& more) {
    run_server(
        "/bin/sh",
        {"-c", "ulimit -n " + std::to_string(most) + "; exec \"$@\"", "sh", program_path("reckoner-server")},
        more);
  }

  void run_server(const std::string& program, std::vector<std::string> all,
                  const std::vector<std::string>& more) {
    for (const char* each : {"--scenario", "crowd", "--entities", "20", "--port", "0", "--metrics-port", "0",
                             "--watch-port", "0", "--watch-host"})
      all.emplace_back(each);
    all.push_back(loopback());
    all.insert(all.end(), more.begin(), more.end());
    server_ = std::make_unique<Process>(program, all);
    ASSERT_TRUE(server_->wait_for("live view on ")) << server_->errors();
    port_ = number_after("listening on port ");
    metrics_ = number_after("metrics on http://127.0.0.1:");
    const std::string place = "://" + url_host() + ':';
    const std::string output = server_->output();
    const std::size_t at = output.find(place, output.find("live view on "));
    ASSERT_NE(at, std::string::npos) << output;
    watch_ = static_cast<std::uint16_t>(std::atoi(output.c_str() + at + place.size()));
    ASSERT_NE(watch_, 0);
  }

  [[nodiscard]] std::uint16_t number_after(const std::string& words) const {
    const std::string output = server_->output();
    const std::size_t at = output.find(words);
    return at == std::string::npos
               ? std::uint16_t{0}
               : static_cast<std::uint16_t>(std::atoi(output.c_str() + at + words.size()));
  }

  /// The count of a reason, as soon as it is at least `least`, or after two seconds.
  [[nodiscard]] int refused(const std::string& reason, int least = 1) const {
    const std::string name = "reckoner_datagrams_refused_total{reason=\"" + reason + "\"} ";
    int count = 0;
    for (int i = 0; i < 40 && count < least; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const std::string page = http_get(metrics_, "/metrics").body;
      const std::size_t at = page.find(name);
      if (at != std::string::npos) count = std::atoi(page.c_str() + at + name.size());
    }
    return count;
  }

  void expect_that_clients_can_join() {
    Watcher watcher(watch_);
    EXPECT_EQ(watcher.watch(1.5), 20u) << watcher.client().refusal();
    const auto native = run("reckoner-client", {"--insecure", "--transport", "udp", "--connect",
                                                "127.0.0.1:" + std::to_string(port_), "--seconds", "1"});
    EXPECT_EQ(native.exit_code, 0) << native.errors;
  }

  ScratchDir scratch_;
  std::unique_ptr<Process> server_;
  std::uint16_t port_ = 0;
  std::uint16_t metrics_ = 0;
  std::uint16_t watch_ = 0;
};

}  // namespace reckoner::test
