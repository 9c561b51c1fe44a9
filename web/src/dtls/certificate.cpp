// SPDX-License-Identifier: MIT
#include "web/src/dtls/certificate.hpp"

#include <cstdint>
#include <utility>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace reckoner::web {
namespace {

constexpr long kDayS = 24 * 60 * 60;

bool fill(X509* certificate, EVP_PKEY* key) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  X509_NAME* const name = X509_get_subject_name(certificate);
  constexpr unsigned char kName[] = "reckoner";
  return X509_set_version(certificate, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
         // From yesterday, for browsers whose clock is behind, and for longer than a server runs.
         X509_gmtime_adj(X509_getm_notBefore(certificate), -kDayS) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), 3650 * kDayS) != nullptr &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, kName, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
         X509_sign(certificate, key, EVP_sha256()) > 0;
}

}  // namespace

void FreeOpenSsl::operator()(BIO_METHOD* method) const {
  BIO_meth_free(method);
}
void FreeOpenSsl::operator()(EVP_PKEY* key) const {
  EVP_PKEY_free(key);
}
void FreeOpenSsl::operator()(SSL* session) const {
  SSL_free(session);
}
void FreeOpenSsl::operator()(SSL_CTX* context) const {
  SSL_CTX_free(context);
}
void FreeOpenSsl::operator()(X509* certificate) const {
  X509_free(certificate);
}

bool is_usable_certificate(const std::string& chain, const std::string& key) {
  const OpenSslPointer<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  const bool usable = context && SSL_CTX_use_certificate_chain_file(context.get(), chain.c_str()) == 1 &&
                      SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) == 1 &&
                      SSL_CTX_check_private_key(context.get()) == 1;
  ERR_clear_error();
  return usable;
}

std::optional<Fingerprint> fingerprint_of(const X509* certificate) {
  Fingerprint out;
  unsigned bytes = 0;
  auto* const place = reinterpret_cast<unsigned char*>(out.data());
  if (X509_digest(certificate, EVP_sha256(), place, &bytes) != 1 || bytes != out.size()) return std::nullopt;
  return out;
}

Result<Certificate> Certificate::make() {
  Certificate made;
  made.key.reset(EVP_EC_gen("P-256"));
  made.certificate.reset(X509_new());
  if (made.key && made.certificate && fill(made.certificate.get(), made.key.get())) {
    if (const auto fingerprint = fingerprint_of(made.certificate.get())) {
      made.fingerprint = *fingerprint;
      return made;
    }
  }
  return Error{"OpenSSL could not make a certificate for DTLS: it has no random numbers or no memory."};
}

}  // namespace reckoner::web
