// SPDX-License-Identifier: MIT
#include "tls.hpp"

#include <csignal>
#include <cstdio>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace reckoner::test {

bool write_certificate(const std::string& path) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  if (!key || !certificate) return false;
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 24 * 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"),
                             -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), &std::fclose);
  return file && PEM_write_X509(file.get(), certificate.get()) == 1 &&
         PEM_write_PrivateKey(file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
}

struct TlsClient::State {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* session = SSL_new(context);
  bool open = false;

  ~State() {
    SSL_free(session);
    SSL_CTX_free(context);
  }
};

TlsClient::TlsClient(int socket) : state_(std::make_unique<State>()) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the server has closed
  // A read must not wait for the payload behind a record without one.
  SSL_clear_mode(state_->session, SSL_MODE_AUTO_RETRY);
  SSL_set_fd(state_->session, socket);
  state_->open = SSL_connect(state_->session) == 1;
}
TlsClient::~TlsClient() = default;

bool TlsClient::is_open() const {
  return state_->open;
}

int TlsClient::send(std::string_view bytes) const {
  if (!state_->open) return -1;
  return SSL_write(state_->session, bytes.data(), static_cast<int>(bytes.size()));
}

int TlsClient::read(char* out, std::size_t most) const {
  if (!state_->open) return -1;
  const int size = SSL_read(state_->session, out, static_cast<int>(most));
  if (size > 0) return size;
  return SSL_get_error(state_->session, size) == SSL_ERROR_WANT_READ ? 0 : -1;
}

bool TlsClient::has_pending() const {
  return SSL_pending(state_->session) > 0;
}

}  // namespace reckoner::test
