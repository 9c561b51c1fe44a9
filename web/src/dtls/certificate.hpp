// SPDX-License-Identifier: MIT
#pragma once

#include "web/src/signalling/sdp.hpp"

#include <memory>
#include <optional>
#include <string>

#include <openssl/bio.h>
#include <openssl/types.h>

namespace reckoner::web {

/// Frees an object of OpenSSL.
struct FreeOpenSsl {
  void operator()(BIO_METHOD* method) const;
  void operator()(EVP_PKEY* key) const;
  void operator()(SSL* session) const;
  void operator()(SSL_CTX* context) const;
  void operator()(X509* certificate) const;
};

template <class T>
using OpenSslPointer = std::unique_ptr<T, FreeOpenSsl>;

/// A certificate that nobody has signed but its owner, and its private key. The other end knows it by its
/// fingerprint, which travels over the signalling stream, so the names and the dates in it mean nothing.
struct Certificate {
  OpenSslPointer<EVP_PKEY> key;
  OpenSslPointer<X509> certificate;
  Fingerprint fingerprint{};

  /// Makes a new certificate with a new key (ECDSA, P-256). Fails if OpenSSL does, for example without random
  /// numbers.
  [[nodiscard]] static Result<Certificate> make();
};

/// True if a server can use the certificate and its issuers in the file `chain` with the private key in the
/// file `key`, both PEM.
[[nodiscard]] bool is_usable_certificate(const std::string& chain, const std::string& key);

/// SHA-256 of a certificate. Nullopt if it cannot be encoded.
[[nodiscard]] std::optional<Fingerprint> fingerprint_of(const X509* certificate);

}  // namespace reckoner::web
