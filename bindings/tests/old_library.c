/* SPDX-License-Identifier: MIT
 * A library of an earlier version, as the bindings may find it: it lacks most functions. */
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
EXPORT const char* reckoner_version(void) {
  return "0.0.9";
}
EXPORT const char* reckoner_error_text(int result) {
  return result == 0 ? "done" : "an error";
}
