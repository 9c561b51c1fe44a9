// SPDX-License-Identifier: MIT
#include "web/src/http/page_files.hpp"

#include "tests/programs/process.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::web {
namespace {

TEST(PageFiles, AreFoundByPlainPaths) {
  const test::ScratchDir scratch;
  std::filesystem::create_directories(scratch.path() / "page" / "part");
  for (const char* name :
       {"page/live.html", "page/live.js", "page/part/a-b_c.1.wasm", "page/.hidden", "secret"})
    std::ofstream(scratch.file(name)) << name;
  PageFiles files(scratch.file("page"), "live.html");
  const auto main = files.find("/");
  ASSERT_TRUE(main);
  EXPECT_EQ(*main->bytes, "page/live.html");
  EXPECT_EQ(main->type, "text/html; charset=utf-8");
  EXPECT_EQ(files.find("/live.js")->type, "text/javascript; charset=utf-8");
  EXPECT_EQ(files.find("/part/a-b_c.1.wasm")->type, "application/wasm");
  EXPECT_EQ(files.find("/live.js")->bytes, files.find("/live.js")->bytes) << "it stays in memory";
  for (const std::string path : {"",          "live.js",    "/nothing.js", "//live.js",        "/./live.js",
                                 "/part",     "/part/",     "/part/..",    "/part/../live.js", "/../secret",
                                 "/..",       "/.hidden",   "/%6cive.js",  "/%2e%2e/secret",   "/..\\secret",
                                 "/live.js ", "/live.js\\", "/live.js/",   "/LIVE.JS",         "/live.js?"})
    EXPECT_FALSE(files.find(path)) << path;
  EXPECT_FALSE(files.find(std::string("/live.js\0", 9)));
  EXPECT_FALSE(PageFiles("", "live.html").find("/live.js"));
}

TEST(PageFiles, AreReadAgainWhenTheyChange) {
  const test::ScratchDir scratch;
  const std::string path = scratch.file("live.js");
  std::ofstream(path) << "one";
  PageFiles files(scratch.path().string(), "live.html");
  const auto before = files.find("/live.js");
  ASSERT_TRUE(before);
  std::ofstream(path) << "two";
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(2));
  EXPECT_EQ(*files.find("/live.js")->bytes, "two");
  EXPECT_EQ(*before->bytes, "one") << "an answer that has begun goes on";
  std::filesystem::remove(path);
  EXPECT_FALSE(files.find("/live.js"));
}

}  // namespace
}  // namespace reckoner::web
