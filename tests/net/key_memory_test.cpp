// SPDX-License-Identifier: MIT
// Functions that handle keys leave no key bytes on the stack.
#include "handshakes.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/secure/keys.hpp"
#include "tests/support/sanitizer.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>

namespace reckoner::secure {
namespace {

using test::Bytes;

/// Runs a function on a stack of its own and finds out what the function has left there. Runs it elsewhere
/// first: at the first call of a library's function, the dynamic linker saves all vector registers on the
/// stack, and whatever they contain.
class OwnStack {
 public:
  void run(std::function<void()> function) {
    function();
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstack(&attributes, stack_.data(), stack_.size()), 0);
    pthread_t thread{};
    const auto enter = [](void* data) -> void* {
      volatile std::byte above[16 * 1024];  // what follows uses this part of the stack again
      above[0] = std::byte{0};
      (*static_cast<std::function<void()>*>(data))();
      (void)above[0];
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, enter, &function), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }
  /// True if 16 successive bytes of `secret` are on the stack.
  [[nodiscard]] bool contains(std::span<const std::byte> secret) const {
    constexpr std::size_t kTelling = 16;
    for (std::size_t at = 0; at + kTelling <= secret.size(); at += kTelling) {
      const auto part = secret.subspan(at, kTelling);
      if (std::search(stack_.begin(), stack_.end(), part.begin(), part.end()) != stack_.end()) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  struct alignas(kPage) Page {
    std::byte bytes[kPage];
  };
  std::vector<Page> pages_{256};
  std::span<std::byte> stack_{pages_.front().bytes, pages_.size() * kPage};
};

class KeyMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "a sanitizer keeps variables elsewhere and copies arguments";
  }
};

TEST_F(KeyMemory, CopyLeftOnTheStackIsFound) {
  OwnStack stack;
  const SecretKey key = SecretKey::make();
  stack.run([&] {
    volatile std::byte copy[SecretKey::kBytes];
    for (std::size_t i = 0; i < SecretKey::kBytes; ++i)
      copy[i] = key.bytes()[i];
    (void)copy[0];
  });
  EXPECT_TRUE(stack.contains(key.bytes()));
}

TEST_F(KeyMemory, NewKeyAndKeyFromTextAreNotLeftOnTheStack) {
  OwnStack stack;
  SecretKey made, read;
  const std::string text = SecretKey::make().text();
  stack.run([&] {
    made = SecretKey::make();
    read = *SecretKey::from_text(text);
  });
  EXPECT_TRUE(made && read);
  EXPECT_FALSE(stack.contains(made.bytes()));
  EXPECT_FALSE(stack.contains(read.bytes()));
}

TEST_F(KeyMemory, SessionKeyIsNotLeftOnTheStack) {
  OwnStack stack;
  const SecretKey secret = SecretKey::make();
  const auto key = std::make_unique<SessionKey>();
  stack.run([&] { *key = session_key(secret, ClientId{7}); });
  std::array<std::byte, 16> bytes;
  wire::ByteWriter(bytes).number(key->high).number(key->low);
  EXPECT_FALSE(stack.contains(bytes));
}

TEST_F(KeyMemory, DerivedKeysAreNotLeftOnTheStack) {
  OwnStack stack;
  const SecretKey up = SecretKey::make(), down = SecretKey::make();
  const KeyExchange client, server;
  std::optional<SessionKeys> keys;
  stack.run([&] { keys = client.keys(client.public_key(), server.public_key(), {}, up, down); });
  ASSERT_TRUE(keys);
  for (const SecretKey& key : {up, down, keys->to_server, keys->to_client, keys->accept})
    EXPECT_FALSE(stack.contains(key.bytes()));
}

TEST_F(KeyMemory, KeysOfTokensAndTicketsAreNotLeftOnTheStack) {
  OwnStack stack;
  const SecretKey key = SecretKey::make();
  ConnectGrant grant{.client_id = 1, .expires_s = test::kNow + 30, .servers = {test::kServer}};
  const auto token = *issue_token(grant, key, test::kGame);
  const auto written = *write_token(token);
  const auto ticket =
      write(Ticket{token.expires_s, token.nonce, token.sealed, token.to_server, token.to_client});
  bool all = false;
  stack.run([&] {
    const auto read = read_token(written);
    const auto again = read_ticket(ticket);
    const auto opened = open_grant(token.sealed, token.nonce, token.expires_s, key, test::kGame);
    all = read && again && opened;
  });
  EXPECT_TRUE(all);
  EXPECT_FALSE(stack.contains(token.to_server.bytes()));
  EXPECT_FALSE(stack.contains(token.to_client.bytes()));
}

}  // namespace
}  // namespace reckoner::secure
