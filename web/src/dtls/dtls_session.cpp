// SPDX-License-Identifier: MIT
#include "web/src/dtls/dtls_session.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace reckoner::web {
namespace {

// A browser repeats a lost part of its handshake after 50 ms (Chromium) or more. OpenSSL's default of one
// second would make joining slow.
constexpr unsigned kFirstRepeatUs = 200'000;
constexpr unsigned kLongestRepeatUs = 1'000'000;

// What a record can contain (RFC 6347 section 4.1).
constexpr std::size_t kMaxRecordBytes = 16 * 1024;

unsigned next_repeat_us(SSL*, unsigned last_us) {
  return last_us == 0 ? kFirstRepeatUs : std::min(2 * last_us, kLongestRepeatUs);
}

// The owner of a session has checked the cookie before the session began, and no session requests one.
int accept_cookie(SSL*, const unsigned char*, unsigned) {
  return 1;
}
int make_no_cookie(SSL*, unsigned char*, unsigned*) {
  return 0;
}

}  // namespace

/// What OpenSSL calls. Its memory BIOs join datagrams, so a session is a BIO itself.
struct DtlsCallbacks {
  static int read(BIO* bio, char* out, int bytes) {
    auto& session = *static_cast<DtlsSession*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (session.arrived_.empty()) {
      BIO_set_retry_read(bio);
      return -1;
    }
    // Like a socket, loses what does not fit.
    const auto datagram = std::exchange(session.arrived_, {});
    const std::size_t taken = std::min(datagram.size(), static_cast<std::size_t>(std::max(bytes, 0)));
    std::copy_n(datagram.begin(), taken, reinterpret_cast<std::byte*>(out));
    return static_cast<int>(taken);
  }

  static int write(BIO* bio, const char* data, int bytes) {
    BIO_clear_retry_flags(bio);
    if (bytes > 0) {
      static_cast<DtlsSession*>(BIO_get_data(bio))
          ->send_({reinterpret_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)});
    }
    return bytes;
  }

  static long control(BIO*, int command, long, void*) {
    switch (command) {
      case BIO_CTRL_FLUSH:
      case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
        return 1;
      case BIO_CTRL_DGRAM_QUERY_MTU:
      case BIO_CTRL_DGRAM_GET_FALLBACK_MTU:
        return kDtlsMtuBytes;
      default:
        return 0;
    }
  }

  static int create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }

  static int verify(X509_STORE_CTX* store, void*) {
    const int index = SSL_get_ex_data_X509_STORE_CTX_idx();
    auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, index));
    auto& session = *static_cast<DtlsSession*>(SSL_get_app_data(ssl));
    const X509* const certificate = X509_STORE_CTX_get0_cert(store);
    session.has_wrong_certificate_ =
        certificate == nullptr || fingerprint_of(certificate) != session.expected_;
    X509_STORE_CTX_set_error(store, session.has_wrong_certificate_ ? X509_V_ERR_CERT_REJECTED : X509_V_OK);
    return session.has_wrong_certificate_ ? 0 : 1;
  }
};

Result<DtlsContext> DtlsContext::make() {
  auto certificate = Certificate::make();
  if (!certificate) return Error{certificate.error()};
  DtlsContext made;
  made.certificate_ = std::move(*certificate);
  made.method_.reset(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "reckoner datagrams"));
  made.context_.reset(SSL_CTX_new(DTLS_method()));
  BIO_METHOD* const method = made.method_.get();
  SSL_CTX* const context = made.context_.get();
  if (method == nullptr || context == nullptr || BIO_meth_set_read(method, &DtlsCallbacks::read) != 1 ||
      BIO_meth_set_write(method, &DtlsCallbacks::write) != 1 ||
      BIO_meth_set_ctrl(method, &DtlsCallbacks::control) != 1 ||
      BIO_meth_set_create(method, &DtlsCallbacks::create) != 1 ||
      SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) != 1 ||
      // What RFC 8827 section 6.5 demands, and nothing without forward secrecy.
      SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1 ||
      SSL_CTX_use_certificate(context, made.certificate_.certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, made.certificate_.key.get()) != 1)
    return Error{"OpenSSL has no DTLS 1.2 with ECDHE: install a build of OpenSSL that has."};
  // Nothing resumes a session: a browser that returns makes a new offer.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(
      context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_QUERY_MTU | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context, &DtlsCallbacks::verify, nullptr);
  SSL_CTX_set_cookie_verify_cb(context, &accept_cookie);
  SSL_CTX_set_cookie_generate_cb(context, &make_no_cookie);
  return made;
}

DtlsSession::~DtlsSession() = default;

bool DtlsSession::prepare(const DtlsContext& context) {
  session_.reset(SSL_new(context.context_.get()));
  BIO* const bio = session_ ? BIO_new(context.method_.get()) : nullptr;
  if (bio == nullptr) return false;
  BIO_set_data(bio, this);
  SSL_set_bio(session_.get(), bio, bio);
  SSL_set_app_data(session_.get(), this);
  SSL_set_mtu(session_.get(), kDtlsMtuBytes);
  DTLS_set_timer_cb(session_.get(), &next_repeat_us);
  return true;
}

std::unique_ptr<DtlsSession> DtlsSession::accept(const DtlsContext& context, const Fingerprint& expected,
                                                 std::span<const std::byte> hello, Send send) {
  std::unique_ptr<DtlsSession> made(new DtlsSession(expected, std::move(send)));
  if (!made->prepare(context)) return nullptr;
  SSL* const ssl = made->session_.get();
  SSL_set_accept_state(ssl);
  made->arrived_ = hello;
  // Makes OpenSSL expect the second hello, the one with the cookie, as the first.
  const std::unique_ptr<BIO_ADDR, decltype(&BIO_ADDR_free)> unused(BIO_ADDR_new(), &BIO_ADDR_free);
  ERR_clear_error();
  const bool is_accepted = unused && DTLSv1_listen(ssl, unused.get()) == 1;
  made->arrived_ = {};
  if (!is_accepted) return nullptr;
  made->step_handshake();
  if (made->state_ == State::failed) return nullptr;
  return made;
}

std::unique_ptr<DtlsSession> DtlsSession::connect(const DtlsContext& context, const Fingerprint& expected,
                                                  Send send) {
  std::unique_ptr<DtlsSession> made(new DtlsSession(expected, std::move(send)));
  if (!made->prepare(context)) return nullptr;
  SSL_set_connect_state(made->session_.get());
  made->step_handshake();
  return made;
}

void DtlsSession::step_handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result == 1) {
    state_ = State::open;
  } else if (SSL_get_error(session_.get(), result) != SSL_ERROR_WANT_READ) {
    state_ = State::failed;
  }
}

bool DtlsSession::receive(std::span<const std::byte> datagram, const Deliver& deliver) {
  arrived_ = datagram;
  const bool was_handshaking = state_ == State::handshaking;
  if (was_handshaking) step_handshake();
  bool is_genuine = was_handshaking;
  std::array<std::byte, kMaxRecordBytes> packet;
  while (state_ == State::open) {
    ERR_clear_error();
    const int bytes = SSL_read(session_.get(), packet.data(), static_cast<int>(packet.size()));
    if (bytes > 0) {
      is_genuine = true;
      deliver(std::span(packet).first(static_cast<std::size_t>(bytes)));
      continue;
    }
    const int error = SSL_get_error(session_.get(), bytes);
    if (error == SSL_ERROR_WANT_READ) break;
    is_genuine = true;
    state_ = State::ended;
  }
  arrived_ = {};
  return is_genuine;
}

bool DtlsSession::send(std::span<const std::byte> packet) {
  // 13 bytes of header, and at most 32 of nonce, tag and padding.
  if (state_ != State::open || packet.empty() || packet.size() + 45 > kDtlsMtuBytes) return false;
  ERR_clear_error();
  return SSL_write(session_.get(), packet.data(), static_cast<int>(packet.size())) > 0;
}

void DtlsSession::service() {
  if (state_ != State::handshaking) return;
  ERR_clear_error();
  if (DTLSv1_handle_timeout(session_.get()) < 0) state_ = State::failed;
}

void DtlsSession::close() {
  if (state_ == State::open) {
    ERR_clear_error();
    (void)SSL_shutdown(session_.get());
  }
  if (state_ != State::failed) state_ = State::ended;
}

}  // namespace reckoner::web
