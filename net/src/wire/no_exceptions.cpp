// SPDX-License-Identifier: MIT
// Cereal's headers contain `throw` for errors that Reckoner's archive cannot cause. Where the C++ runtime has
// no exceptions, as in WebAssembly, a throw ends the program. Nothing in the libraries catches.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {

void* __cxa_allocate_exception(std::size_t) {
  std::fputs("reckoner: an exception was thrown in a build without exceptions\n", stderr);
  std::abort();
}

void __cxa_throw(void*, void*, void (*)(void*)) {
  std::abort();
}

void __cxa_free_exception(void*) {}

void* __cxa_begin_catch(void*) {
  std::abort();
}

void __cxa_end_catch() {}

}  // extern "C"
