// SPDX-License-Identifier: MIT
#include "programs/common/sessions/status_page.hpp"

#include <chrono>
#include <cstring>
#include <stop_token>
#include <thread>
#include <utility>

#include <civetweb.h>
#include <fmt/format.h>

namespace reckoner::program {

struct StatusPage::Impl {
  ~Impl() {
    if (server == nullptr) return;
    // CivetWeb checks only every two seconds whether it should end, but also when a client connects. So
    // connect to it until it has ended.
    const std::jthread caller([this](const std::stop_token& stopped) {
      while (!stopped.stop_requested()) {
        char why[100];
        if (mg_connection* call = mg_connect_client(own_host.c_str(), port, 0, why, sizeof why))
          mg_close_connection(call);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    mg_stop(server);
  }
  Content content;
  mg_context* server = nullptr;
  std::string own_host;  // address at which this machine reaches the server
  std::uint16_t port = 0;
};

namespace {

struct Answer {
  int code;
  const char* status;
  const char* type;
  std::string body;
};

int send(mg_connection* connection, const Answer& answer) {
  const bool head = std::strcmp(mg_get_request_info(connection)->request_method, "HEAD") == 0;
  const std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "Connection: close\r\n\r\n{}",
      answer.code, answer.status, answer.type, answer.body.size(), head ? std::string{} : answer.body);
  mg_write(connection, text.data(), text.size());
  return answer.code;
}

bool reads_only(mg_connection* connection) {
  const std::string_view method = mg_get_request_info(connection)->request_method;
  return method == "GET" || method == "HEAD";
}

int refuse_method(mg_connection* connection) {
  return send(connection, {405, "Method Not Allowed", "text/plain; charset=utf-8", "GET only\n"});
}

int on_metrics(mg_connection* connection, void* data) {
  if (!reads_only(connection)) return refuse_method(connection);
  const auto& content = *static_cast<const StatusPage::Content*>(data);
  return send(connection, {200, "OK", "text/plain; version=0.0.4; charset=utf-8", content.metrics()});
}

int on_health(mg_connection* connection, void* data) {
  if (!reads_only(connection)) return refuse_method(connection);
  const StatusPage::Health health = static_cast<const StatusPage::Content*>(data)->health();
  return send(connection, {health.well ? 200 : 503, health.well ? "OK" : "Service Unavailable",
                           "text/plain; charset=utf-8", health.text + "\n"});
}

int on_anything_else(mg_connection* connection, void*) {
  return send(connection, {404, "Not Found", "text/plain; charset=utf-8", "/metrics or /health\n"});
}

}  // namespace

StatusPage::StatusPage(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StatusPage::~StatusPage() = default;

Result<std::unique_ptr<StatusPage>> StatusPage::open(const std::string& host, std::uint16_t port,
                                                     Content content) {
  auto impl = std::make_unique<Impl>();
  impl->content = std::move(content);
  impl->own_host = host == "0.0.0.0" ? "127.0.0.1" : host;
  const std::string address = fmt::format("{}:{}", host, port);
  // A connection occupies one thread until its request has arrived or the time is over. So 150 connections
  // that send nothing delay a monitor by 0.6 s.
  const char* options[] = {"listening_ports",
                           address.c_str(),
                           "num_threads",
                           "64",
                           "request_timeout_ms",
                           "250",
                           "enable_keep_alive",
                           "no",
                           nullptr};
  const mg_callbacks callbacks{};
  impl->server = mg_start(&callbacks, nullptr, options);
  if (impl->server == nullptr) return Error{"could not serve the metrics on " + address};
  mg_server_port bound{};
  if (mg_get_server_ports(impl->server, 1, &bound) != 1)
    return Error{"could not find the port of the metrics"};
  impl->port = static_cast<std::uint16_t>(bound.port);
  mg_set_request_handler(impl->server, "/metrics$", on_metrics, &impl->content);
  mg_set_request_handler(impl->server, "/health$", on_health, &impl->content);
  mg_set_request_handler(impl->server, "**", on_anything_else, nullptr);
  return std::unique_ptr<StatusPage>(new StatusPage(std::move(impl)));
}

std::uint16_t StatusPage::port() const {
  return impl_->port;
}

}  // namespace reckoner::program
