// SPDX-License-Identifier: MIT
#include "web/src/signalling/sdp.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace reckoner::web {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The characters of ufrag and password: ice-char of RFC 8839 section 5.4.
bool is_ice_text(std::string_view text, std::size_t least, std::size_t most) {
  return text.size() >= least && text.size() <= most &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '+' || c == '/'; });
}

/// We answer with this name, so it contains nothing that could begin another attribute.
bool is_mid(std::string_view text) {
  return !text.empty() && text.size() <= 16 && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
  });
}

std::optional<std::uint32_t> read_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<unsigned> read_hex_digit(char c) {
  const char upper = c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  const std::size_t digit = kHexDigits.find(upper);
  if (digit == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(digit);
}

/// "sha-256 AB:CD:...": 32 bytes.
std::optional<Fingerprint> read_fingerprint(std::string_view text) {
  constexpr std::string_view kHash = "sha-256 ";
  Fingerprint out;
  if (text.size() != kHash.size() + out.size() * 3 - 1) return std::nullopt;
  const bool is_sha256 =
      std::equal(kHash.begin(), kHash.end(), text.begin(), [](char a, char b) {  // either case
        return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
      });
  if (!is_sha256) return std::nullopt;
  text.remove_prefix(kHash.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto high = read_hex_digit(text[3 * i]), low = read_hex_digit(text[3 * i + 1]);
    const bool separated = i + 1 == out.size() || text[3 * i + 2] == ':';
    if (!high || !low || !separated) return std::nullopt;
    out[i] = static_cast<std::byte>(*high << 4 | *low);
  }
  return out;
}

/// Takes the lines of an offer one by one.
class OfferReader {
 public:
  /// Returns what is wrong with the line, as a sentence, or null.
  const char* line(std::string_view line) {
    if (line.size() < 2 || line[1] != '=') return "The offer has a line that is not SDP.";
    if (line.starts_with("m=")) return section(line.substr(2));
    if (!line.starts_with("a=")) return nullptr;
    line.remove_prefix(2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return nullptr;
    return attribute(line.substr(0, colon), line.substr(colon + 1));
  }

  /// After the last line.
  [[nodiscard]] const char* finish() const {
    if (!has_section_) return "The offer has no data channel.";
    if (!ufrag_ || !password_) return "The offer has no ICE user name or no ICE password.";
    if (!fingerprint_) return "The offer has no fingerprint.";
    if (!setup_) return "The offer does not say who begins DTLS.";
    if (!mid_) return "The data channel of the offer has no mid.";
    return nullptr;
  }

  [[nodiscard]] Offer offer() const {
    Offer out{.ufrag = std::string(*ufrag_),
              .password = std::string(*password_),
              .fingerprint = *read_fingerprint(*fingerprint_),
              .mid = std::string(*mid_)};
    if (sctp_port_) out.sctp_port = static_cast<std::uint16_t>(*read_number(*sctp_port_));
    if (max_message_bytes_) out.max_message_bytes = *read_number(*max_message_bytes_);
    return out;
  }

 private:
  using Value = std::optional<std::string_view>;

  const char* section(std::string_view text) {
    if (has_section_) return "The offer has more than one section: offer one data channel and no media.";
    has_section_ = true;
    const bool is_data = text.starts_with("application ") && text.ends_with(" webrtc-datachannel") &&
                         text.find(" UDP/DTLS/SCTP ") != std::string_view::npos;
    return is_data ? nullptr : "The section of the offer is not a data channel over UDP.";
  }

  const char* attribute(std::string_view name, std::string_view value) {
    if (name == "ice-ufrag") {
      return keep(ufrag_, value, is_ice_text(value, 4, 32), "The ICE user name of the offer is not valid.");
    }
    if (name == "ice-pwd") {
      return keep(password_, value, is_ice_text(value, 22, 128),
                  "The ICE password of the offer is not valid.");
    }
    if (name == "fingerprint") {
      return keep(fingerprint_, value, read_fingerprint(value).has_value(),
                  "The fingerprint of the offer is not a SHA-256.");
    }
    if (name == "setup") {
      return keep(setup_, value, value == "actpass" || value == "active",
                  "The browser must begin DTLS, but the offer does not allow it.");
    }
    if (name == "mid") return keep(mid_, value, is_mid(value), "The mid of the offer is not valid.");
    if (name == "sctp-port") {
      const auto port = read_number(value);
      return keep(sctp_port_, value, port && *port > 0 && *port <= 65'535,
                  "The SCTP port of the offer is not valid.");
    }
    if (name == "max-message-size") {
      return keep(max_message_bytes_, value, read_number(value).has_value(),
                  "The largest message size of the offer is not valid.");
    }
    return nullptr;
  }

  /// Firefox repeats attributes of the session in the section. Two values for one name would let two readers
  /// of one offer disagree.
  static const char* keep(Value& place, std::string_view value, bool is_valid, const char* fault) {
    if (!is_valid) return fault;
    if (place && *place != value) return "The offer has two values for one attribute.";
    place = value;
    return nullptr;
  }

  bool has_section_ = false;
  Value ufrag_, password_, fingerprint_, setup_, mid_, sctp_port_, max_message_bytes_;
};

std::string fingerprint_text(const Fingerprint& fingerprint) {
  std::string out;
  for (const std::byte byte : fingerprint) {
    if (!out.empty()) out += ':';
    out += kHexDigits[std::to_integer<std::size_t>(byte >> 4)];
    out += kHexDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return out;
}

}  // namespace

Result<Offer> read_offer(std::string_view sdp) {
  if (sdp.size() > kMaxOfferBytes) return Error{"The offer is longer than 8192 bytes."};
  if (!sdp.starts_with("v=0\r\n") && !sdp.starts_with("v=0\n")) return Error{"The offer is not SDP."};
  OfferReader reader;
  while (!sdp.empty()) {
    const std::size_t end = std::min(sdp.find('\n'), sdp.size());
    std::string_view line = sdp.substr(0, end);
    sdp.remove_prefix(std::min(end + 1, sdp.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > kMaxOfferLineBytes) return Error{"The offer has a line longer than 512 bytes."};
    if (const char* const fault = reader.line(line)) return Error{fault};
  }
  if (const char* const fault = reader.finish()) return Error{fault};
  return reader.offer();
}

std::string write_answer(const Answer& answer) {
  const std::string host = host_text(answer.address);
  const std::string port = std::to_string(answer.address.port);
  const std::string family = answer.address.host.is_ipv4() ? "IP4 " : "IP6 ";
  std::string out = "v=0\r\no=- 1 1 IN " + family + host + "\r\ns=-\r\nt=0 0\r\n";
  const auto attribute = [&out](std::string_view name, std::string_view value) {
    out.append("a=").append(name).append(value).append("\r\n");
  };
  attribute("group:BUNDLE ", answer.mid);
  attribute("ice-lite", "");
  out += "m=application " + port + " UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN " + family + host + "\r\n";
  // The priority of the only candidate: RFC 8445 section 5.1.2.1 with type 126, local preference 65535,
  // component 1.
  attribute("candidate:", "1 1 udp 2130706431 " + host + ' ' + port + " typ host");
  attribute("end-of-candidates", "");
  attribute("ice-ufrag:", answer.ufrag);
  attribute("ice-pwd:", answer.password);
  attribute("fingerprint:sha-256 ", fingerprint_text(answer.fingerprint));
  attribute("setup:", "passive");
  attribute("mid:", answer.mid);
  attribute("sctp-port:", std::to_string(answer.sctp_port));
  attribute("max-message-size:", std::to_string(answer.max_message_bytes));
  return out;
}

}  // namespace reckoner::web
